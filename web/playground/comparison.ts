/** Two recordings, or one by two sets of models, side by side. */
import { button, element } from '../elements.ts';
import type { Answer } from './analyze.ts';
import { emotionSignals, type Report } from './report.ts';
import { createDifferences, type Score, scoresOf } from './scores.ts';
import { titleOf, verdictOf } from './summary.ts';
import { share } from './wording.ts';

/** A report that is compared with another. `name`: the recording, or the set */
export type Kept<Kind = Report> = { readonly name: string; readonly answer: Answer<Kind> };

export function createKeepButton(onKeep: () => void): HTMLButtonElement {
  const keep = button('plain flush small', () => keepForComparison(), 'Compare with the next recording');
  const keepForComparison = () => {
    onKeep();
    keep.replaceChildren('The next recording is compared with this one');
    keep.disabled = true;
  };
  return keep;
}

/** Emotions that change less are not named. */
const minChange = 0.05;

export function createComparison(before: Kept, after: Kept): HTMLElement {
  const [old, now] = [before.answer.report, after.answer.report];
  return element(
    'div',
    { class: 'stack comparison' },
    element('ol', { class: 'compared' }, entry(before), entry(after)),
    createDifferences(...comparable(old, now)),
    changes(old, now),
  );
}

/** Load and processing with a baseline are on another scale than those without one. */
export function comparable(old: Report, now: Report): [Score[], Score[]] {
  const isSameScale = old.cognitive.relative === now.cognitive.relative;
  const kept = (report: Report) =>
    scoresOf(report).filter(
      ({ name }) => isSameScale || (name !== 'cognitive_load' && name !== 'processing'),
    );
  return [kept(old), kept(now)];
}

/** The name, and the answer. */
function entry({ name, answer: { report } }: Kept): HTMLElement {
  const signals = emotionSignals(report);
  const probable = signals === null ? null : `. ${verdictOf(signals, report.emotion).probable}`;
  return element(
    'li',
    {},
    element('strong', {}, name),
    ': ',
    element('span', {}, ...titleOf(report), probable),
  );
}

/** The emotions that both have, whose probability differs most; null when none does. */
function changes(before: Report, after: Report): HTMLElement | null {
  const [old, now] = [emotionSignals(before), emotionSignals(after)];
  if (old === null || now === null) return null;
  const named = Object.entries(now.emotions)
    .flatMap(([name, probability]) => {
      const earlier = old.emotions[name];
      return earlier === undefined ? [] : [{ name, change: probability - earlier }];
    })
    .filter(({ change }) => Math.abs(change) >= minChange)
    .sort((one, other) => Math.abs(other.change) - Math.abs(one.change))
    .map(({ name, change }) => `${name} ${change < 0 ? '−' : '+'}${share(Math.abs(change))}`);
  return named.length === 0
    ? null
    : element('p', { class: 'number' }, `Probability of emotions: ${named.join(', ')}.`);
}
