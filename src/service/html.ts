/** HTML by template literals that escape what they are given. */
import { escapeLines } from '../node/controls.ts';

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
