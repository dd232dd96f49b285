import { element } from '../dom.ts';
import { quantity } from './format.ts';
import { measureName } from './messages.ts';
import type { Cognitive } from './report.ts';

export function createMeasuresTable(measures: Cognitive['measures']): HTMLElement {
  const rows = Object.entries(measures).map(([name, { value, unit, validated }]) =>
    row(`${measureName(name)}${validated === false ? ' (not validated)' : ''}`, quantity(value, unit)),
  );
  return createFacts(rows);
}

/** Names on the left, values on the right; long values break. */
export function createFacts(rows: readonly HTMLElement[]): HTMLElement {
  return element('table', { class: 'facts' }, element('tbody', {}, ...rows));
}

export function row(name: string, value: string): HTMLElement {
  return element('tr', {}, element('th', { scope: 'row' }, name), element('td', { class: 'number' }, value));
}
