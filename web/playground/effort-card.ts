/** The parts of load and processing. */
import { button, type Child, element, fold, percent } from '../elements.ts';
import { card, term } from './cards.ts';
import type { Cognitive, CognitiveSignals, Contribution, Reference, Rules } from './report.ts';
import { type IndexName, isTooShort, isUncertain, meanings, tooShortTitle } from './scores.ts';
import { measureMeaning, measureName, quantity, score, share, signed } from './wording.ts';

/** The measure with the largest weight in an index, and what less, an equal amount and more of it are called. */
const mainMeasures: Readonly<
  Record<IndexName, { readonly measure: string; readonly words: readonly [string, string, string] }>
> = {
  cognitive_load: {
    measure: 'pause_ratio',
    words: ['fewer pauses than', 'about as many pauses as', 'more pauses than'],
  },
  processing: {
    measure: 'mean_run',
    words: [
      'shorter stretches between pauses than',
      'stretches about as long between pauses as',
      'longer stretches between pauses than',
    ],
  },
};
/** Shares of the reference recordings below which a voice has less than usual, and far less; above 1 less them, more. */
const [lessShare, farLessShare] = [0.3, 0.1];

type Context = {
  /** Scores of the same recording without its baseline, if known. */
  readonly before: CognitiveSignals | null;
  readonly reference: Rules['reference'];
  /** Opens the panel of the baseline; null for one of several voices. */
  readonly onBaseline: (() => void) | null;
};

export function effortCard(cognitive: Cognitive, signals: CognitiveSignals, context: Context): HTMLElement {
  const { relative, clarity_rated_on: ratedOn = 'read English' } = cognitive;
  const compared = relative
    ? 'Load and processing are compared with the baseline: 0.50 is the same as at rest.'
    : 'Load and processing are compared with recordings of other people: 0.50 is usual.';
  const { onBaseline } = context;
  const index = (name: IndexName) => createIndex(name, cognitive, signals, context);
  const indices = element('div', { class: 'columns' }, index('cognitive_load'), index('processing'));
  return card(
    'Effort and fluency',
    compared,
    element(
      'div',
      { class: 'confidence' },
      confidenceNote(signals),
      relative || onBaseline === null
        ? null
        : button('plain flush small', onBaseline, 'Compare with the same voice at rest'),
    ),
    isTooShort(cognitive) ? fold(tooShortTitle, indices) : indices,
    element(
      'p',
      { class: 'small muted' },
      `Clarity was learned from experts who rated fluency, rhythm and melody of ${ratedOn}: it has no parts to add up. For other speech (other languages, free speech, whispers, single words) no expert has checked it.`,
    ),
  );
}

/** The confidence, and what it means. */
function confidenceNote(signals: CognitiveSignals): HTMLElement {
  const explanation =
    'How much of load, clarity and processing comes from this recording instead of what is usual: 0 to 100 %. It grows with the amount of speech.';
  return element(
    'p',
    { class: 'small' },
    term(explanation, element('strong', {}, `Confidence ${share(signals.confidence)}.`)),
    isUncertain(signals)
      ? ' Low: the scores are drawn hollow. More speech raises it.'
      : ' More speech raises it.',
  );
}

function createIndex(
  name: IndexName,
  cognitive: Cognitive,
  signals: CognitiveSignals,
  { before, reference: distributions }: Context,
): HTMLElement {
  const { contributions, measures, reference, relative } = cognitive;
  const value = signals[name];
  const effects = [...contributions.cognitive_load, ...contributions.processing];
  const widest = Math.max(0.05, ...effects.map(({ effect }) => Math.abs(effect)));
  const start = `${score(reference)}, ${relative ? 'as at rest' : 'which is usual'}`;
  return element(
    'div',
    { class: 'stack' },
    element('h4', {}, meanings[name].title),
    relative || isTooShort(cognitive) ? null : comparison(name, measures, distributions),
    relative ? difference(value - reference, before === null ? null : before[name]) : null,
    element(
      'div',
      { class: 'effects' },
      element('p', { class: 'small muted number' }, `From ${start}, to ${score(value)}:`),
      element('ul', {}, ...contributions[name].map((one) => createEffect(one, measures, widest))),
    ),
  );
}

function comparison(
  name: IndexName,
  measures: Cognitive['measures'],
  reference: Rules['reference'],
): HTMLElement | null {
  const { measure, words } = mainMeasures[name];
  const [measured, entry] = [measures[measure], reference[measure]];
  if (measured === undefined || entry === undefined) return null;
  const below = percentile(measured.value, entry);
  const nearest = Math.min(below, 1 - below);
  const [less, equal, more] = words;
  const word = nearest >= lessShare ? equal : below < 0.5 ? less : more;
  const sentence = `${nearest < farLessShare ? 'far ' : ''}${word} usual.`;
  return element(
    'p',
    { class: 'small' },
    sentence.replace(/^./, (first) => first.toUpperCase()),
  );
}

function difference(change: number, before: number | null): HTMLElement {
  const size = Math.abs(change) < 0.005 ? 'As at rest' : `${signed(change)} against rest`;
  const past = before === null ? '' : ` (without the baseline ${score(before)})`;
  return element('p', { class: 'notice number' }, `${size}${past}`);
}

/** @param widest effect of a full bar */
function createEffect(
  { measure, effect, source }: Contribution,
  measures: Cognitive['measures'],
  widest: number,
): HTMLElement {
  const measured = measures[measure];
  const here = measured === undefined ? '' : ` Here ${quantity(measured.value, measured.unit)}.`;
  const explanation = `${measureMeaning(measure)}${here} The bar is what it adds to the score. Shown by ${source}.`;
  return element(
    'li',
    {},
    element(
      'div',
      { class: 'effect-head' },
      term(explanation, measureName(measure)),
      element('strong', { class: 'number' }, signed(effect)),
    ),
    bar(effect / widest),
  );
}

/** @param reach -1 to 1 */
function bar(reach: number): Child {
  const fill = element('span', { class: reach < 0 ? 'effect-fill down' : 'effect-fill up' });
  fill.style.width = percent(Math.abs(reach) / 2);
  return element('span', { class: 'effect-track', 'aria-hidden': 'true' }, fill);
}

/** Share of the reference recordings with a lower value: the logistic distribution of the reference, 0 to 1. */
function percentile(value: number, { median, spread, scale }: Reference): number {
  const odds = (share: number) => share / (1 - share);
  const distance = {
    difference: value - median,
    ratio: Math.log(value / median),
    inverse: Math.log(value / median),
    odds: Math.log(odds(value) / odds(median)),
  }[scale];
  return 1 / (1 + Math.exp(-distance / spread));
}
