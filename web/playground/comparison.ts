/** Two recordings: the answer of each, and the difference of each score. */
import { element } from '../elements.ts';
import type { Answer } from './analyze.ts';
import { createExplained } from './explained.ts';
import { score, share, signed } from './format.ts';
import { cognitiveSignals, emotionReason, emotionSignals, type Report } from './report.ts';
import { createEnds, createLine, head, hidden, meanings, type Score, scoresOf } from './scores.ts';
import { verdictOf } from './summary.ts';

/** A report that was kept for comparison. */
export type Kept = { readonly name: string; readonly answer: Answer<Report> };

/** Emotions that change less are not named. */
const minChange = 0.05;

export function createComparison(before: Kept, after: Kept): HTMLElement {
  const now = scoresIn(after.answer.report);
  const pairs = scoresIn(before.answer.report).flatMap((old) => {
    const same = now.find(({ name }) => name === old.name);
    return same === undefined ? [] : [[old, same] as const];
  });
  return element(
    'div',
    { class: 'stack comparison' },
    element('ol', { class: 'compared' }, entry(before), entry(after)),
    pairs.length === 0
      ? null
      : element('ul', { class: 'scores', 'aria-label': 'Differences' }, ...pairs.map(tile)),
    changes(before.answer.report, after.answer.report),
  );
}

function scoresIn(report: Report): Score[] {
  return scoresOf(emotionSignals(report), cognitiveSignals(report), report.cognitive);
}

/** The name of a recording, and its answer. */
function entry({ name, answer: { report } }: Kept): HTMLElement {
  const signals = emotionSignals(report);
  const words =
    signals === null
      ? [emotionReason(report) === null ? 'Too little speech' : 'No emotion']
      : sounds(verdictOf(signals, report.emotion));
  return element('li', {}, element('strong', {}, name), ': ', ...words);
}

function sounds({ title, probable }: ReturnType<typeof verdictOf>): Node[] {
  return [element('span', {}, ...title, '. ', probable)];
}

function tile([old, now]: readonly [Score, Score]): HTMLElement {
  const { root, button, explain } = createExplained('score');
  const isApart = old.interval[0] > now.interval[1] || now.interval[0] > old.interval[1];
  button.classList.toggle('uncertain', !isApart);
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
      hidden(isApart ? ', ranges apart' : ', ranges overlap'),
    ),
  );
  const verdict = isApart
    ? 'Their 80 % intervals do not overlap.'
    : 'Their 80 % intervals overlap: the difference may be chance.';
  const range = ({ interval: [low, high] }: Score) => `${score(low)} to ${score(high)}`;
  explain(
    `${meanings[old.name].scale} The first is ${score(old.value)}, interval ${range(old)}, drawn hollow; the second ${score(now.value)}, interval ${range(now)}. ${verdict}`,
  );
  return element('li', {}, root);
}

/** The emotions whose probability differs most; null when none does. */
function changes(before: Report, after: Report): HTMLElement | null {
  const [old, now] = [emotionSignals(before), emotionSignals(after)];
  if (old === null || now === null) return null;
  const named = Object.entries(now.emotions)
    .map(([name, probability]) => ({ name, change: probability - (old.emotions[name] ?? 0) }))
    .filter(({ change }) => Math.abs(change) >= minChange)
    .sort((one, other) => Math.abs(other.change) - Math.abs(one.change))
    .map(({ name, change }) => `${name} ${change < 0 ? '−' : '+'}${share(Math.abs(change))}`);
  return named.length === 0
    ? null
    : element('p', { class: 'number' }, `Probability of emotions: ${named.join(', ')}.`);
}
