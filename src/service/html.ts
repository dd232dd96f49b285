/** HTML and SVG of pages and reports. */
import { escapeLines } from '../node/files.ts';

// HTML by template literals that escape what they are given.

export type Html = { readonly html: string };
type Value = string | number | Html | readonly Html[] | null;

/** Text with `code` between backticks. */
export function prose(text: string): Html {
  const parts = text.split(/`([^`]+)`/);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : html`${part}`))}`;
}

const escapes: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Strings are escaped; null is empty. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.map((part, index) => part + toText(values[index] ?? null)).join('') };
}

function toText(value: Value): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  if (typeof value === 'string')
    return escapeLines(value).replace(/[&<>"']/g, (character) => escapes[character] ?? '');
  return 'html' in value ? value.html : value.map(toText).join('');
}

const integers = new Intl.NumberFormat('en');

/** With commas between thousands. */
export function countText(count: number): string {
  return integers.format(count);
}

// A value with its interval on a scale, as SVG.

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
