/** Rows with every number of the reports: per recording, per utterance, or per stretch of speech and pause. */
import type { Report } from '../index.ts';
import type { FileResult } from './analyze-thread.ts';
import { type Part, type Row, reportsOf, toRow } from './csv.ts';

export const rowUnits = ['file', 'utterance', 'segment'] as const;
export type RowUnit = (typeof rowUnits)[number];

export type WideColumn = { readonly name: string; readonly type: 'STRING' | 'DOUBLE' | 'INT32' };

const text = (name: string): WideColumn => ({ name, type: 'STRING' });
const number = (name: string): WideColumn => ({ name, type: 'DOUBLE' });
const numbers = (...names: readonly string[]) => names.map(number);
const withInterval = (...names: readonly string[]) =>
  names.flatMap((name) => numbers(name, `${name}_low`, `${name}_high`));

/** Measures of the cognitive report; undefined ones are empty. */
const measures = [
  'pause_ratio',
  'pause_rate',
  'mean_pause',
  'long_pause_rate',
  'mean_run',
  'mean_run_syllables',
  'articulation_rate',
  'speech_rate',
  'rate_variability',
  'pitch_level',
  'pitch_range',
  'level_range',
  'spectral_tilt',
  'hesitation_rate',
];

/** @param labels of the emotion model */
export function wideColumns(by: RowUnit, kind: Part['kind'] | null, labels: readonly string[]): WideColumn[] {
  const probabilities = labels.map((label) => number(`p_${label}`));
  const span = numbers('start_s', 'end_s');
  const columns = {
    file: [
      text('status'),
      ...numbers('duration_s', 'speech_s'),
      ...withInterval('valence', 'arousal'),
      ...[text('dominant_emotion'), text('tone'), number('emotion_confidence')],
      ...probabilities,
      ...withInterval('cognitive_load', 'clarity', 'processing'),
      ...numbers('cognitive_confidence', ...measures),
      text('warnings'),
    ],
    utterance: [
      { name: 'utterance', type: 'INT32' } as const,
      ...span,
      ...withInterval('valence', 'arousal'),
      ...[text('dominant_emotion'), number('emotion_confidence')],
      ...probabilities,
    ],
    segment: [text('type'), ...span],
  };
  return [text('path'), ...(kind === null ? [] : [text(kind)]), ...columns[by], text('error')];
}

/** One row for a file that failed. */
export function wideRows(by: RowUnit, path: string, result: FileResult, part: Part | null): Row[] {
  const common = { path, ...(part && { [part.kind]: part.name }) };
  if ('error' in result) return [{ ...common, ...toRow(path, result) }];
  return rowsOf[by](path, result.report).map((row) => ({ ...common, ...row }));
}

const rowsOf: Readonly<Record<RowUnit, (path: string, report: Report) => Row[]>> = {
  file: (path, report) => [
    {
      ...toRow(path, { report }),
      ...Object.assign({}, ...reportsOf(report).map(([, { signals }]) => details(signals))),
      ...Object.fromEntries(
        Object.entries(report.cognitive?.measures ?? {}).map(([name, { value }]) => [name, value]),
      ),
    },
  ],
  utterance: (_, report) => utterances(report),
  segment: (_, report) => report.segments.map((segment) => ({ ...segment })),
};

function utterances({ emotion }: Report): Row[] {
  return (emotion?.timeline ?? []).map((entry, utterance) => {
    const { emotions: _, intervals: __, confidence: emotion_confidence, ...scores } = entry;
    return { utterance, ...scores, emotion_confidence, ...details(entry) };
  });
}

type Details = {
  readonly emotions?: Readonly<Record<string, number>>;
  readonly intervals?: Readonly<Record<string, readonly [number, number]>>;
};

/** Probabilities and intervals. */
function details(scores: object): Row {
  const { emotions = {}, intervals = {} } = scores as Details;
  return Object.fromEntries([
    ...Object.entries(emotions).map(([label, probability]) => [`p_${label}`, probability]),
    ...Object.entries(intervals).flatMap(([name, [low, high]]) => [
      [`${name}_low`, low],
      [`${name}_high`, high],
    ]),
  ]);
}

/** A Parquet file, with the rows of all recordings. */
export async function encodeParquet(
  columns: readonly WideColumn[],
  rows: readonly Row[],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const columnData = columns.map(({ name, type }) => ({
    name,
    type,
    data: rows.map((row) => row[name] ?? null),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'undertone' }));
}
