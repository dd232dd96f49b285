/** Load, clarity and processing: score, interval and contributions. */

import { element } from '../dom.ts';
import { createContributions } from './contributions.ts';
import { score, share, signed } from './format.ts';
import { createGauge, type Gauge } from './gauge.ts';
import type { Cognitive, CognitiveSignals } from './report.ts';
import { percentile, type Rules } from './rules.ts';

const indices = {
  cognitive_load: {
    name: 'Cognitive load',
    ends: ['little effort', 'great effort'],
    measure: 'pause_ratio',
    more: 'More pauses',
  },
  processing: {
    name: 'Processing',
    ends: ['laboured', 'fluent planning'],
    measure: 'mean_run',
    more: 'Longer runs between pauses',
  },
} as const;

type IndexName = keyof typeof indices;

type Context = {
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  readonly reference: Rules['reference'];
};

/** Below this confidence the scores are drawn as uncertain. */
const minConfidence = 0.25;

export function isUncertain({ confidence }: CognitiveSignals): boolean {
  return confidence < minConfidence;
}

/** The confidence, and what it means. */
export function confidenceNote(signals: CognitiveSignals): HTMLElement {
  const said = isUncertain(signals)
    ? 'Low: the scores are drawn hollow. More speech raises it.'
    : 'More speech raises it.';
  return element(
    'p',
    { class: 'small' },
    element('strong', {}, `Confidence ${share(signals.confidence)}. `),
    said,
  );
}

export function createCognitiveView(
  cognitive: Cognitive,
  signals: CognitiveSignals,
  context: Context,
): HTMLElement {
  const index = (name: IndexName) => createIndex(name, cognitive, signals, context);
  return element('div', { class: 'trio' }, index('cognitive_load'), clarity(signals), index('processing'));
}

function createIndex(
  name: IndexName,
  { contributions, measures, reference, relative, warnings }: Cognitive,
  signals: CognitiveSignals,
  { before, reference: distributions }: Context,
): HTMLElement {
  const value = signals[name];
  const insufficient = warnings.includes('insufficient_speech_cognitive');
  const effects = [...contributions.cognitive_load, ...contributions.processing];
  const widest = Math.max(0.05, ...effects.map(({ effect }) => Math.abs(effect)));
  const origin = { at: reference, name: relative ? 'at rest' : 'reference' };
  return element(
    'div',
    { class: 'stack' },
    indexGauge(name, signals, isUncertain(signals) || insufficient, origin),
    insufficient || relative ? null : comparison(name, measures, distributions),
    relative ? difference(value - reference, before === null ? null : before[name]) : null,
    createContributions(contributions[name], { origin: reference, total: value, widest }),
  );
}

export function indexGauge(
  name: IndexName,
  signals: CognitiveSignals,
  uncertain: boolean,
  origin?: Gauge['origin'],
): HTMLElement {
  const [value, interval] = [signals[name], signals.intervals[name]];
  return createGauge({ ...indices[name], value, origin, interval, uncertain, tone: 'accent' });
}

/** The measure with the largest weight in the index, against the reference recordings. */
function comparison(
  name: IndexName,
  measures: Cognitive['measures'],
  reference: Rules['reference'],
): HTMLElement | null {
  const { measure, more } = indices[name];
  const [measured, entry] = [measures[measure], reference[measure]];
  if (measured === undefined || entry === undefined) return null;
  const below = share(percentile(measured.value, entry));
  return element('p', { class: 'small number' }, `${more} than ${below} of reference recordings.`);
}

function difference(change: number, before: number | null): HTMLElement {
  const size = Math.abs(change) < 0.005 ? 'As at rest' : `${signed(change)} against rest`;
  const past = before === null ? '' : ` (without the baseline ${score(before)})`;
  return element('p', { class: 'notice number' }, `${size}${past}`);
}

export function clarityGauge(signals: CognitiveSignals): HTMLElement {
  const { clarity: value, intervals } = signals;
  return createGauge({
    name: 'Clarity',
    value,
    ends: ['hard to follow', 'clear'],
    interval: intervals.clarity,
    uncertain: isUncertain(signals),
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
