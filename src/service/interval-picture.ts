/** A value with its interval on a scale, as SVG. */
import { type Html, html } from './html.ts';

type Estimate = { readonly value: number; readonly interval: readonly [number, number] | null };

const width = 160;
const height = 14;
const margin = 4;

/** @param group estimates that share the scale: 0 to 1, or as far as they reach */
export function intervalPicture({ value, interval }: Estimate, group: readonly Estimate[]): Html {
  const all = group.flatMap((one) => [one.value, ...(one.interval ?? [])]);
  const [low, high] = [Math.min(0, ...all), Math.max(1, ...all)];
  const x = (of: number) => (margin + ((of - low) / (high - low)) * (width - 2 * margin)).toFixed(1);
  const middle = height / 2;
  const [from, to] = interval ?? [value, value];
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">
    <line class="scale" x1="${x(low)}" x2="${x(high)}" y1="${middle}" y2="${middle}"/>
    <line class="interval" x1="${x(from)}" x2="${x(to)}" y1="${middle}" y2="${middle}"/>
    <circle class="value" cx="${x(value)}" cy="${middle}" r="3.5"/></svg>`;
}
