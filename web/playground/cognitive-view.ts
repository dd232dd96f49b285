/** Load, clarity and processing: score, interval and contributions. */

import { element } from '../dom.ts';
import { createContributions } from './contributions.ts';
import { score, signed } from './format.ts';
import { createGauge, type Gauge } from './gauge.ts';
import type { Cognitive, CognitiveSignals } from './report.ts';

const indices = {
  cognitive_load: { name: 'Cognitive load', ends: ['little effort', 'great effort'] },
  processing: { name: 'Processing', ends: ['laboured', 'fluent planning'] },
} as const;

type IndexName = keyof typeof indices;

/** @param before scores of the same recording without its baseline, if known */
export function createCognitiveView(
  cognitive: Cognitive,
  signals: CognitiveSignals,
  before: CognitiveSignals | null,
): HTMLElement {
  const index = (name: IndexName) => createIndex(name, cognitive, signals, before);
  return element('div', { class: 'trio' }, index('cognitive_load'), clarity(signals), index('processing'));
}

function createIndex(
  name: IndexName,
  { contributions, reference, relative }: Cognitive,
  signals: CognitiveSignals,
  before: CognitiveSignals | null,
): HTMLElement {
  const value = signals[name];
  const counted = contributions[name].length > 0;
  const origin = { at: reference, name: relative ? 'at rest' : 'reference' };
  return element(
    'div',
    { class: 'stack' },
    indexGauge(name, signals, origin),
    relative && counted ? difference(value - reference, before === null ? null : before[name]) : null,
    counted ? createContributions(contributions[name], reference, value) : null,
  );
}

export function indexGauge(
  name: IndexName,
  signals: CognitiveSignals,
  origin?: Gauge['origin'],
): HTMLElement {
  const [value, interval] = [signals[name], signals.intervals[name]];
  return createGauge({ ...indices[name], value, origin, interval, tone: 'accent' });
}

function difference(change: number, before: number | null): HTMLElement {
  const size = Math.abs(change) < 0.005 ? 'As at rest' : `${signed(change)} against rest`;
  const past = before === null ? '' : ` (without the baseline ${score(before)})`;
  return element('p', { class: 'notice number' }, `${size}${past}`);
}

export function clarityGauge({ clarity: value, intervals }: CognitiveSignals): HTMLElement {
  return createGauge({
    name: 'Clarity',
    value,
    ends: ['hard to follow', 'clear'],
    interval: intervals.clarity,
    tone: 'clarity',
  });
}

function clarity(signals: CognitiveSignals): HTMLElement {
  return element(
    'div',
    { class: 'stack' },
    clarityGauge(signals),
    element(
      'p',
      { class: 'small muted' },
      'Predicted by a model from what experts said of fluency and prosody in read English: it has no parts to add up.',
    ),
  );
}
