/** A score from 0 to 1 on a line, with its interval and its reference. */
import { element, percent } from '../dom.ts';
import { score } from './format.ts';

export type Gauge = {
  readonly name: string;
  readonly value: number;
  /** Labels of 0 and 1. */
  readonly ends: readonly [string, string];
  readonly interval?: readonly [number, number] | undefined;
  /** Position of a tick: the reference or the baseline. */
  readonly origin?: { readonly at: number; readonly name: string } | undefined;
  /** Draws the value hollow. */
  readonly uncertain?: boolean;
  /** CSS class of the colour. */
  readonly tone: 'valence' | 'arousal' | 'clarity' | 'accent';
};

export function createGauge({
  name,
  value,
  ends,
  interval,
  origin,
  uncertain = false,
  tone,
}: Gauge): HTMLElement {
  const line = element('div', { class: 'gauge-line', 'aria-hidden': 'true' });
  if (interval !== undefined) line.append(band(interval));
  if (origin !== undefined) line.append(at('gauge-origin', origin.at));
  line.append(at('gauge-value', value));
  const sure = interval === undefined ? null : `80 % interval ${score(interval[0])} to ${score(interval[1])}`;
  const unsure = uncertain ? 'uncertain' : null;
  const from = origin === undefined ? null : `${origin.name} ${score(origin.at)}`;
  return element(
    'div',
    { class: `gauge ${tone}${uncertain ? ' uncertain' : ''}` },
    element(
      'p',
      { class: 'gauge-head' },
      element('span', {}, name),
      element('strong', { class: 'number' }, score(value)),
    ),
    line,
    element('p', { class: 'gauge-ends' }, element('span', {}, ends[0]), element('span', {}, ends[1])),
    note([unsure, sure, from]),
  );
}

function note(parts: readonly (string | null)[]): HTMLElement | null {
  const said = parts.filter((part) => part !== null);
  return said.length === 0 ? null : element('p', { class: 'muted small number' }, said.join(' · '));
}

function band([low, high]: readonly [number, number]): HTMLElement {
  const made = at('gauge-band', low);
  made.style.width = percent(high - low);
  return made;
}

function at(kind: string, place: number): HTMLElement {
  const made = element('span', { class: kind });
  made.style.left = percent(place);
  return made;
}
