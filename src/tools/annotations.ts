/** A report as annotations of its recording, for Praat (TextGrid) and Audacity (labels). Imports types alone: pages use it too. */
import type { CombinedReport } from '../engine/index.ts';

type Annotated = Pick<CombinedReport, 'segments'> & Partial<Pick<CombinedReport, 'emotion'>>;
type Interval = { readonly start: number; readonly end: number; readonly text: string };
type Tier = { readonly name: string; readonly intervals: readonly Interval[] };

/** Reports without scores of emotion have no tier of utterances. @param part name of a channel or speaker, before the names of its tiers */
export function tiersOf({ segments, emotion }: Annotated, part = ''): Tier[] {
  const named = (name: string) => [part.replace(/\p{Cc}/gu, ' '), name].filter(Boolean).join(' ');
  const segmentTier = {
    name: named('segments'),
    intervals: segments.map(({ start_s: start, end_s: end, type: text }) => ({ start, end, text })),
  };
  if (emotion?.status !== 'ok') return [segmentTier];
  const intervals = emotion.timeline.map((entry) => ({
    start: entry.start_s,
    end: entry.end_s,
    text: [
      `${entry.dominant_emotion} ${entry.confidence.toFixed(2)}`,
      ...(['valence', 'arousal'] as const).flatMap((name) => {
        const score = entry[name];
        return score === null ? [] : `${name} ${score.toFixed(2)}`;
      }),
    ].join('; '),
  }));
  const momentIntervals = (emotion.moments ?? [])
    .map(({ start_s: start, end_s: end, emotion: label, probability, differences }) => ({
      start,
      end,
      text: `${label} ${probability.toFixed(2)}; ${differences[0]?.spreads.toFixed(1)} times the usual variation`,
    }))
    .sort((one, other) => one.start - other.start);
  return [
    segmentTier,
    { name: named('utterances'), intervals },
    { name: named('moments'), intervals: momentIntervals },
  ];
}

type Unassigned = { readonly unassigned?: readonly { readonly start_s: number; readonly end_s: number }[] };

/** Speech of no speaker, in a report with `speakers`: no tier without any. */
export function unassignedTiers(report: object): Tier[] {
  const { unassigned = [] } = report as Unassigned;
  const intervals = unassigned.map(({ start_s: start, end_s: end }) => ({ start, end, text: 'speech' }));
  return intervals.length === 0 ? [] : [{ name: 'unassigned', intervals }];
}

/** In Praat's text format. The intervals of a tier follow each other without a gap: those between are empty. */
export function toTextGrid(seconds: number, tiers: readonly Tier[]): string {
  const lines = [
    'File type = "ooTextFile"',
    'Object class = "TextGrid"',
    '',
    'xmin = 0',
    `xmax = ${seconds}`,
    'tiers? <exists>',
    `size = ${tiers.length}`,
    'item []:',
  ];
  for (const [index, { name, intervals }] of tiers.entries()) {
    const filled = fillGaps(intervals, seconds);
    lines.push(
      `    item [${index + 1}]:`,
      '        class = "IntervalTier"',
      `        name = ${quoted(name)}`,
      '        xmin = 0',
      `        xmax = ${seconds}`,
      `        intervals: size = ${filled.length}`,
    );
    for (const [at, { start, end, text }] of filled.entries()) {
      lines.push(
        `        intervals [${at + 1}]:`,
        `            xmin = ${start}`,
        `            xmax = ${end}`,
        `            text = ${quoted(text)}`,
      );
    }
  }
  return `${lines.join('\n')}\n`;
}

/** A line per interval: start, end and text with tabs between, in order of time. */
export function toLabels(tiers: readonly Tier[]): string {
  const lines = tiers.flatMap(({ name, intervals }) =>
    intervals.map(({ start, end, text }) => ({ start, end, text: `${name.replace(/s$/, '')}: ${text}` })),
  );
  return lines
    .sort((one, other) => one.start - other.start || other.end - one.end)
    .map(({ start, end, text }) => `${start.toFixed(3)}\t${end.toFixed(3)}\t${text}\n`)
    .join('');
}

function fillGaps(intervals: readonly Interval[], seconds: number): Interval[] {
  const filled: Interval[] = [];
  let at = 0;
  for (const interval of intervals) {
    if (interval.start > at) filled.push({ start: at, end: interval.start, text: '' });
    filled.push(interval);
    at = interval.end;
  }
  return at < seconds ? [...filled, { start: at, end: seconds, text: '' }] : filled;
}

function quoted(text: string): string {
  return `"${text.replaceAll('"', '""')}"`;
}
