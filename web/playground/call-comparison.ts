/** Two calls side by side: the lanes of both on one time axis, and the differences of each voice. */
import { element } from '../elements.ts';
import { comparable, type Kept } from './comparison.ts';
import { createLane } from './lane.ts';
import { emotionSignals, type SeveralReport, voicesOf } from './report.ts';
import { isApart, meanings, pairScores } from './scores.ts';
import { createNamedLane, createTimeAxis, type TimeAxis } from './time-axis.ts';
import { createAffectLegend } from './timeline.ts';
import { score, signed } from './wording.ts';

type Call = Kept<SeveralReport>;

/** Whether both have as many voices, separated in the same way. */
export function haveSameVoices(one: SeveralReport, other: SeveralReport): boolean {
  return 'channels' in one === 'channels' in other && voicesOf(one).length === voicesOf(other).length;
}

export function createCallComparison(before: Call, after: Call): TimeAxis {
  const calls = [before, after];
  const duration = Math.max(...calls.map(({ answer }) => answer.report.audio.duration_s));
  const rows = calls.flatMap(({ name, answer }) =>
    voicesOf(answer.report).map((voice) => {
      const signals = emotionSignals(voice.report);
      const lane = signals && createLane(voice.report.emotion, signals, duration, null);
      return { lane, root: createNamedLane(lane, `${name} · ${voice.name}`) };
    }),
  );
  const axis = createTimeAxis(
    duration,
    rows.flatMap(({ lane }) => lane ?? []),
    rows.map(({ root }) => root),
    null,
  );
  const content = [axis.root, createAffectLegend(), createTable(before, after)];
  return { ...axis, root: element('div', { class: 'stack' }, ...content) };
}

/** A row per voice and score, those whose ranges do not overlap first. */
function createTable(before: Call, after: Call): HTMLElement {
  const later = voicesOf(after.answer.report);
  const differences = voicesOf(before.answer.report).flatMap(({ name, report }, index) => {
    const same = later[index];
    return same === undefined
      ? []
      : pairScores(...comparable(report, same.report)).map(([old, now]) => ({ name, old, now }));
  });
  const sizeOf = ({ old, now }: (typeof differences)[number]) =>
    Math.abs(now.value - old.value) + (isApart(old, now) === true ? 1 : 0);
  const sorted = differences.toSorted((one, other) => sizeOf(other) - sizeOf(one));
  const rows = sorted.map(({ name, old, now }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row' }, name),
      element('td', {}, meanings[old.name].title),
      element('td', { class: 'number' }, score(old.value)),
      element('td', { class: 'number' }, score(now.value)),
      element('td', { class: 'number' }, signed(now.value - old.value)),
      element('td', {}, isApart(old, now) === true ? 'differs' : 'may be chance'),
    ),
  );
  const head = [
    ...['Voice', 'Score'].map((title) => element('th', { scope: 'col' }, title)),
    ...[`Before: ${before.name}`, `After: ${after.name}`, 'Difference'].map((title) =>
      element('th', { scope: 'col', class: 'number' }, title),
    ),
    element('th', { scope: 'col' }, 'Verdict'),
  ];
  const table = element(
    'table',
    {},
    element('thead', {}, element('tr', {}, ...head)),
    element('tbody', {}, ...rows),
  );
  const region = { class: 'table-scroll', tabindex: '0', role: 'region', 'aria-label': 'Differences' };
  const note = 'Voices are paired in the order in which they first speak.';
  const paired = 'channels' in after.answer.report ? null : element('p', { class: 'small muted' }, note);
  return element('div', {}, element('div', region, table), paired);
}
