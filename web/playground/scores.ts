/** The scores of a report, each on a line from 0 to 1 with its interval and the explanation of its scale, and their differences. */
import { scoreEnds } from '../../src/engine/signals/score-ends.ts';
import { type Child, element, fold, hidden, percent } from '../elements.ts';
import { createExplained } from './cards.ts';
import {
  type Cognitive,
  type CognitiveSignals,
  cognitiveSignals,
  type Emotion,
  type EmotionSignals,
  emotionSignals,
  type Report,
} from './report.ts';
import { score, signed } from './wording.ts';

type ScoreName = keyof typeof scoreEnds;
export type IndexName = 'cognitive_load' | 'processing';

export type Score = {
  readonly name: ScoreName;
  readonly value: number;
  /** Null with models that were not calibrated. */
  readonly interval: readonly [number, number] | null;
  /** Drawn hollow. */
  readonly isUncertain: boolean;
  /** Folded away: too little speech. */
  readonly isTooShort: boolean;
  /** The reference: its score, its name, and how the score differs from it. */
  readonly origin: { readonly at: number; readonly of: string; readonly change?: string } | null;
};

type Meaning = {
  readonly title: string;
  readonly scale: string;
};

export const meanings: Readonly<Record<ScoreName, Meaning>> = {
  valence: {
    title: 'Valence',
    scale: 'How positive the voice sounds to listeners: 0 is negative, 1 is positive.',
  },
  arousal: {
    title: 'Arousal',
    scale: 'How excited the voice sounds to listeners: 0 is calm or subdued, 1 is excited or agitated.',
  },
  cognitive_load: {
    title: 'Cognitive load',
    scale:
      'How much effort the speech seems to take, from its pauses: 0 is few pauses and little effort, 1 is many pauses and great effort. It is no medical measure.',
  },
  clarity: {
    title: 'Clarity',
    scale:
      'How fluent experts would find the speech, learned from people who read English aloud: 0 is hard to follow, 1 is clear. For other speech no expert has checked it.',
  },
  processing: {
    title: 'Processing',
    scale:
      'How easily the speaker seems to plan what comes next: 0 is short stretches of speech with many pauses, 1 is long ones with few. It is no medical measure.',
  },
};

/** The scale of the percentages of emotions. */
export const probabilityScale =
  'How probable it is that listeners hear the emotion, 0 to 100 %: all emotions together are 100 %. Learned mostly from actors.';

/** Below this confidence the cognitive scores are uncertain. */
const minConfidence = 0.25;

export function isUncertain({ confidence }: CognitiveSignals): boolean {
  return confidence < minConfidence;
}

export const isTooShort = ({ warnings }: Pick<Cognitive, 'warnings'>): boolean =>
  warnings.includes('insufficient_speech_cognitive');
export const tooShortTitle = 'Load and processing: uncertain';

/** The reference of the indices; null in a live session. */
type Comparison = Pick<Cognitive, 'reference' | 'relative' | 'warnings'> | null;

export function scoresOf(report: Report): Score[] {
  const { emotion, cognitive } = report;
  return scoresOfSignals(emotionSignals(report), cognitiveSignals(report), cognitive, emotion.relative);
}

/** The scores of the available signals. @param relative to a baseline */
export function scoresOfSignals(
  emotion: EmotionSignals | null,
  cognitive: CognitiveSignals | null,
  comparison: Comparison = null,
  relative: Emotion['relative'] = null,
): Score[] {
  return [
    ...(emotion === null ? [] : affectScores(emotion, relative)),
    ...(cognitive === null ? [] : cognitiveScores(cognitive, comparison)),
  ];
}

function affectScores(signals: EmotionSignals, relative: Emotion['relative']): Score[] {
  return (['valence', 'arousal'] as const).flatMap((name) => {
    const [value, interval] = [signals[name], signals.intervals[name]];
    if (value === null) return [];
    const { change, interval: [low, high] = [0, 0] } = relative?.[name] ?? { change: 0 };
    const origin = relative && {
      at: value - change,
      of: 'the baseline',
      change: `The difference is ${signed(change)}, and in 8 of 10 cases within ${signed(low)} to ${signed(high)}.`,
    };
    return [{ name, value, interval, isUncertain: interval === null, isTooShort: false, origin }];
  });
}

function cognitiveScores(signals: CognitiveSignals, comparison: Comparison): Score[] {
  const unsure = isUncertain(signals);
  const isShort = comparison !== null && isTooShort(comparison);
  const origin = comparison && {
    at: comparison.reference,
    of: comparison.relative ? 'the baseline' : 'what is usual',
  };
  const { cognitive_load, clarity, processing, intervals } = signals;
  const index = { isUncertain: unsure || isShort, isTooShort: isShort, origin };
  return [
    { name: 'cognitive_load', value: cognitive_load, interval: intervals.cognitive_load, ...index },
    {
      name: 'clarity',
      value: clarity,
      interval: intervals.clarity,
      isUncertain: unsure,
      isTooShort: false,
      origin: null,
    },
    { name: 'processing', value: processing, interval: intervals.processing, ...index },
  ];
}

/** The scores of a report, of which those with too little speech are folded away. */
export function createScoreList(report: Report): HTMLElement {
  const all = scoresOf(report);
  const listOf = (shown: readonly Score[]) => {
    const list = createScores();
    list.show(shown);
    return list.root;
  };
  const short = all.filter((one) => one.isTooShort);
  const others = listOf(all.filter((one) => !one.isTooShort));
  return short.length === 0
    ? others
    : element('div', { class: 'stack' }, others, fold(tooShortTitle, listOf(short)));
}

type Scores = {
  readonly root: HTMLElement;
  /** Replaces numbers and explanations; a button keeps the focus. */
  show(scores: readonly Score[]): void;
};

export function createScores(): Scores {
  const root = element('ul', { class: 'scores', 'aria-label': 'Scores with their ranges' });
  const tiles = new Map<ScoreName, (shown: Score) => void>();
  return {
    root,
    show: (scores) => {
      for (const one of scores) {
        const show = tiles.get(one.name) ?? addTile(root, one.name);
        tiles.set(one.name, show);
        show(one);
      }
    },
  };
}

function addTile(list: HTMLElement, name: ScoreName): (shown: Score) => void {
  const { root, button, explain } = createExplained(`score ${name}`);
  list.append(element('li', {}, root));
  return (shown) => {
    const unsure = shown.isUncertain ? element('span', { class: 'score-unsure' }, 'uncertain, ') : null;
    button.classList.toggle('uncertain', shown.isUncertain);
    button.replaceChildren(
      ...head(name, score(shown.value)),
      createLine([shown], shown.origin?.at ?? null),
      createEnds(name),
      element(
        'span',
        { class: 'score-range number' },
        ...(shown.interval === null
          ? ['range unknown']
          : [hidden('range '), unsure, rangeOf(shown.interval)]),
      ),
    );
    explain(explanation(shown));
  };
}

function head(name: ScoreName, value: string): HTMLElement[] {
  return [
    element('span', { class: 'score-name' }, meanings[name].title),
    element('strong', { class: 'score-value number' }, value),
  ];
}

function createEnds(name: ScoreName): HTMLElement {
  const ends = scoreEnds[name].map((end) => element('span', {}, end));
  return element('span', { class: 'score-ends', 'aria-hidden': 'true' }, ...ends);
}

function rangeOf([low, high]: readonly [number, number]): string {
  return `${score(low)} to ${score(high)}`;
}

function explanation({ name, interval, isUncertain, origin }: Score): string {
  const from = origin && `The tick at ${score(origin.at)} marks ${origin.of}. ${origin.change ?? ''}`.trim();
  const band =
    interval === null
      ? 'How certain the score is, is unknown: the model was not fitted to recordings with known answers.'
      : `In 8 of 10 cases the true score is within the band from ${rangeOf(interval)}: the wider, the less certain.`;
  const unsure = isUncertain ? 'Drawn hollow: too uncertain to rely on.' : null;
  return [meanings[name].scale, from, band, unsure].filter((part) => part !== null).join(' ');
}

/** @param origin position of a tick, or null */
function createLine(
  marks: readonly Pick<Score, 'value' | 'interval' | 'isUncertain'>[],
  origin: number | null,
): HTMLElement {
  const drawn = marks.flatMap(({ value, interval, isUncertain }): Child[] => [
    interval && bandOf(interval),
    at(isUncertain ? 'score-point hollow' : 'score-point', value),
  ]);
  const tick = origin === null ? null : at('score-origin', origin);
  return element('span', { class: 'score-line', 'aria-hidden': 'true' }, ...drawn, tick);
}

function bandOf([low, high]: readonly [number, number]): HTMLElement {
  const band = at('score-band', low);
  band.style.width = percent(high - low);
  return band;
}

function at(kind: string, place: number): HTMLElement {
  const made = element('span', { class: kind });
  made.style.left = percent(place);
  return made;
}

// Differences of two recordings.

/** The difference of each score that both have; null without one. */
export function createDifferences(before: readonly Score[], after: readonly Score[]): HTMLElement | null {
  const pairs = pairScores(before, after);
  if (pairs.length === 0) return null;
  return element('ul', { class: 'scores', 'aria-label': 'Differences' }, ...pairs.map(differenceTile));
}

/** The scores that both have. */
export function pairScores(before: readonly Score[], after: readonly Score[]): (readonly [Score, Score])[] {
  return before.flatMap((old) => {
    const same = after.find(({ name }) => name === old.name);
    return same === undefined ? [] : [[old, same] as const];
  });
}

/** Whether the intervals do not overlap; null where one of them has none. */
export function isApart({ interval: old }: Score, { interval: now }: Score): boolean | null {
  return old && now && (old[0] > now[1] || now[0] > old[1]);
}

function differenceTile([old, now]: readonly [Score, Score]): HTMLElement {
  const { root, button, explain } = createExplained('score');
  const apart = isApart(old, now);
  button.classList.toggle('uncertain', apart !== true);
  button.append(
    ...head(old.name, signed(now.value - old.value)),
    createLine(
      [
        { ...old, isUncertain: true },
        { ...now, isUncertain: false },
      ],
      null,
    ),
    createEnds(old.name),
    element(
      'span',
      { class: 'score-range number' },
      `${score(old.value)} → ${score(now.value)}`,
      apart === null ? null : hidden(apart ? ', ranges apart' : ', ranges overlap'),
    ),
  );
  const overlap = apart
    ? 'Their ranges do not overlap: the difference is clear.'
    : 'Their ranges overlap: the difference may be chance.';
  const verdict = apart === null ? 'One of them has no range: the difference may be chance.' : overlap;
  const range = ({ interval }: Score) => (interval === null ? 'none' : rangeOf(interval));
  explain(
    `${meanings[old.name].scale} The first is ${score(old.value)}, range ${range(old)}, drawn hollow; the second ${score(now.value)}, range ${range(now)}. ${verdict}`,
  );
  return element('li', {}, root);
}
