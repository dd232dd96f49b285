/** A value with its interval on a scale, as SVG. */
import { type Html, html } from './html.ts';

type Estimate = { readonly value: number; readonly interval: readonly [number, number] | null };

const width = 160;
const height = 14;
const margin = 4;

export type Scale = readonly [low: number, high: number];

/** The scale that estimates share: 0 to 1, or as far as they reach. */
export function scaleOf(group: readonly Estimate[]): Scale {
  let [low, high] = [0, 1];
  for (const { value, interval } of group)
    for (const end of [value, ...(interval ?? [])]) [low, high] = [Math.min(low, end), Math.max(high, end)];
  return [low, high];
}

export function intervalPicture({ value, interval }: Estimate, [low, high]: Scale): Html {
  const x = (of: number) => (margin + ((of - low) / (high - low)) * (width - 2 * margin)).toFixed(1);
  const middle = height / 2;
  const [from, to] = interval ?? [value, value];
  return html`<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" aria-hidden="true">
    <line class="scale" x1="${x(low)}" x2="${x(high)}" y1="${middle}" y2="${middle}"/>
    <line class="interval" x1="${x(from)}" x2="${x(to)}" y1="${middle}" y2="${middle}"/>
    <circle class="value" cx="${x(value)}" cy="${middle}" r="3.5"/></svg>`;
}
