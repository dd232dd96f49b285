/** The columns of CSV and Parquet, each an entry of one table: docs/columns.md. */
import { z } from 'zod';
import {
  audioSchema,
  type BodySchema,
  definitions,
  envelope,
  type Moment,
  type Relative,
  reportShape,
  type Signal,
  signals,
  type Warning,
} from '../engine/schema.ts';
import type { FileResult } from './analyze-thread.ts';
import type { Report } from './index.ts';

export type Cell = string | number | null;

export const rowUnits = ['file', 'utterance', 'segment'] as const;
export type RowUnit = (typeof rowUnits)[number];
/** `short`: per recording, in CSV without `--wide`. */
type RowKind = 'short' | RowUnit;

/** A channel or a speaker of a recording. */
export type Part = { readonly kind: 'channel' | 'speaker'; readonly name: string };

/** What the cells of a row are read from. */
export type Row = {
  readonly path: string;
  readonly result: FileResult;
  readonly part: Part | null;
  /** Number of the utterance, in a row per utterance. */
  readonly utterance?: number;
  /** In a row per segment. */
  readonly segment?: Report['segments'][number];
};

export type Column = {
  readonly name: string;
  /** Of Parquet. */
  readonly type: 'STRING' | 'DOUBLE' | 'INT32';
  /** Unit, range or values. */
  readonly unit: string;
  readonly description: string;
  /** The rows that have the column. */
  readonly rows: readonly RowKind[];
  /** Only in rows per channel or per speaker. */
  readonly part?: Part['kind'];
  /** Heading and width in the table for terminals, which has no other columns but the path. */
  readonly table?: readonly [heading: string, width: number];
  /** Null without a value. */
  value(row: Row): Cell;
};

const text = { type: 'STRING', unit: 'text' } as const;
const seconds = { type: 'DOUBLE', unit: 's' } as const;
const score = { type: 'DOUBLE', unit: '0 to 1' } as const;
const everywhere = ['short', ...rowUnits] as const;
const perRecording = ['short', 'file'] as const;

/** Null for a recording that failed. */
const ofReport =
  (read: (report: Report) => Cell) =>
  ({ result }: Row): Cell =>
    'error' in result ? null : read(result.report);

const partColumn = (kind: Part['kind'], unit: string, description: string): Column => ({
  name: kind,
  type: 'STRING',
  unit,
  description,
  rows: everywhere,
  part: kind,
  value: ({ part }) => part?.name ?? null,
});

const audioColumn = (
  name: 'duration_s' | 'speech_s' | 'gaps_s' | 'snr_db',
  column: Pick<Column, 'type' | 'unit' | 'rows' | 'table'>,
): Column => ({
  name,
  description: descriptionOf(audioSchema.shape[name]),
  value: ofReport(({ audio }) => audio[name] ?? null),
  ...column,
});

const spanColumn = (name: 'start_s' | 'end_s'): Column => ({
  name,
  ...seconds,
  description: 'Span of the utterance or of the segment, from the start of the recording.',
  rows: ['utterance', 'segment'],
  value: ({ segment, ...row }) => segment?.[name] ?? toCell(scoresOf('emotion', row)[name]),
});

const firstColumns: readonly Column[] = [
  {
    name: 'path',
    ...text,
    description: 'Path of the recording, absolute; `-` is standard input.',
    rows: everywhere,
    value: ({ path }) => path,
  },
  partColumn('channel', 'from 0', 'Number of the channel. Only with `--channels split`.'),
  partColumn('speaker', 'text', 'Name of the speaker. Only with `--segments` or `--speakers`.'),
  {
    name: 'status',
    type: 'STRING',
    unit: '`ok`, `insufficient_speech`, `not_available`, `failed`',
    description:
      'Status of the signals that the models have. `insufficient_speech`: less than 0.5 s of speech. `failed`: see `error`.',
    rows: perRecording,
    table: ['STATUS', 10],
    value: ({ result }) => ('error' in result ? 'failed' : statusOf(result.report)),
  },
  audioColumn('duration_s', { ...seconds, rows: perRecording }),
  audioColumn('speech_s', { ...seconds, rows: perRecording, table: ['SPEECH', 7] }),
  audioColumn('gaps_s', { ...seconds, rows: perRecording }),
  audioColumn('snr_db', { type: 'DOUBLE', unit: 'dB', rows: ['file'] }),
  {
    name: 'utterance',
    type: 'INT32',
    unit: 'from 0',
    description: 'Number of the utterance in the recording.',
    rows: ['utterance'],
    value: ({ utterance }) => utterance ?? null,
  },
  {
    name: 'type',
    type: 'STRING',
    unit: '`speech`, `pause`, `gap`',
    description: descriptionOf(envelope.segments.element),
    rows: ['segment'],
    value: ({ segment }) => segment?.type ?? null,
  },
  spanColumn('start_s'),
  spanColumn('end_s'),
];

/** The moment that the utterance of a row is, or the most unusual one of the recording. */
function momentOf(row: Row): Moment | undefined {
  const moments = 'error' in row.result ? [] : (row.result.report.emotion?.moments ?? []);
  const { start_s = moments[0]?.start_s } = scoresOf('emotion', row);
  return moments.find((moment) => moment.start_s === start_s);
}

const momentColumns: readonly Column[] = [
  {
    name: 'moments',
    type: 'INT32',
    unit: 'number',
    description: 'Utterances more emotional than the others, at most 10; empty with fewer than 5 to compare.',
    rows: perRecording,
    value: ofReport(({ emotion }) => (emotion?.status === 'ok' ? (emotion.moments?.length ?? null) : null)),
  },
  {
    name: 'moment_start_s',
    ...seconds,
    description: 'Start of the most unusual of these utterances.',
    rows: perRecording,
    value: (row) => toCell(momentOf(row)?.start_s),
  },
  {
    name: 'moment_emotion',
    ...text,
    description: 'Its most probable label but neutral and calm.',
    rows: perRecording,
    value: (row) => toCell(momentOf(row)?.emotion),
  },
  {
    name: 'moment_spreads',
    type: 'DOUBLE',
    unit: 'number',
    description:
      'Its distance from what is typical of the speaker, in spreads; of an utterance, if it is a moment.',
    rows: ['file', 'utterance'],
    value: (row) => toCell(momentOf(row)?.differences[0]?.spreads),
  },
];

const intervalColumns = (
  name: string,
  shape: Pick<Column, 'type' | 'unit' | 'rows'>,
  intervalOf: (row: Row) => readonly number[] | null | undefined,
): Column[] =>
  (['low', 'high'] as const).map((end, at) => ({
    name: `${name}_${end}`,
    ...shape,
    description: `Ends of the 80 % interval of \`${name}\`.`,
    value: (row) => toCell(intervalOf(row)?.[at]),
  }));

/** Of an utterance, or of the recording, which has one only with a baseline. */
function relativeOf(row: Row): Relative | null | undefined {
  if (row.utterance === undefined) return 'error' in row.result ? null : row.result.report.emotion?.relative;
  return (scoresOf('emotion', row) as { relative?: Relative }).relative;
}

const change = { type: 'DOUBLE', unit: '-1 to 1' } as const;
const changeColumns = (['valence', 'arousal'] as const).flatMap((name): Column[] => [
  {
    name: `${name}_change`,
    ...change,
    description: `\`${name}\` less what is usual for the speaker: in the baselines, or in the utterances before.`,
    rows: ['short', 'file', 'utterance'],
    value: (row) => toCell(relativeOf(row)?.[name].change),
  },
  ...intervalColumns(
    `${name}_change`,
    { ...change, rows: ['file', 'utterance'] },
    (row) => relativeOf(row)?.[name].interval,
  ),
  {
    name: `${name}_change_spreads`,
    type: 'DOUBLE',
    unit: 'number',
    description: `\`${name}_change\` in spreads of the speaker.`,
    rows: ['file', 'utterance'],
    value: (row) => toCell(relativeOf(row)?.[name].spreads),
  },
]);
const relativeColumns: readonly Column[] = [
  ...changeColumns,
  {
    name: 'relative_emotion',
    ...text,
    description: 'The most probable label, given what is usual for the speaker.',
    rows: ['file', 'utterance'],
    value: (row) => relativeOf(row)?.emotion ?? null,
  },
  {
    name: 'relative_probability',
    type: 'DOUBLE',
    unit: '0 to 1',
    description: 'Probability of `relative_emotion`.',
    rows: ['file', 'utterance'],
    value: (row) => toCell(relativeOf(row)?.probability),
  },
];

const lastColumns: readonly Column[] = [
  {
    name: 'warnings',
    ...text,
    description: `${descriptionOf(reportShape.warnings)} Separated by spaces.`,
    rows: perRecording,
    value: ofReport((report) => warningsOf(report).join(' ')),
  },
  ...signals.map(
    (signal): Column => ({
      name: `${signal}_warnings`,
      ...text,
      description: `Warnings that concern ${definitions[signal].title}: of the recording and of this signal. Separated by spaces.`,
      rows: perRecording,
      value: ofReport((report) => report[signal]?.warnings.join(' ') ?? null),
    }),
  ),
  {
    name: 'error',
    ...text,
    description: 'Why the recording could not be analysed, for people.',
    rows: everywhere,
    value: ({ result }) => ('error' in result ? result.error.msg : null),
  },
];

const measures = [
  ['pause_ratio', 'ratio', 'Duration of pauses / (speech + pauses).'],
  ['pause_rate', '1/min', 'Pauses of at least 0.25 s per minute of speech and pauses.'],
  ['mean_pause', 's', 'Mean duration of a pause.'],
  ['long_pause_rate', '1/min', 'Pauses of at least 1 s per minute of speech and pauses.'],
  ['mean_run', 's', 'Mean duration of speech between two pauses or turns.'],
  ['mean_run_syllables', 'syllables', 'Mean number of syllables between two pauses or turns.'],
  ['articulation_rate', 'syllables/s', 'Syllables per second of speech.'],
  ['speech_rate', 'syllables/s', 'Syllables per second of speech and pauses.'],
  ['rate_variability', 'ratio', 'Standard deviation / mean of the syllable rate.'],
  ['pitch_level', 'semitones re 27.5 Hz', 'Median pitch.'],
  ['pitch_range', 'semitones', '10th to 90th percentile of the pitch.'],
  ['level_range', 'dB', '10th to 90th percentile of the level of the voiced frames.'],
  ['spectral_tilt', 'dB/octave', 'Mean slope of the power density over the voiced frames.'],
  ['hesitation_rate', '1/min', 'Hesitations per minute of speech and pauses; not validated.'],
] as const;

const measureColumns = measures.map(
  ([name, unit, description]): Column => ({
    name,
    type: 'DOUBLE',
    unit,
    description,
    rows: ['file'],
    value: ofReport(({ cognitive }) => cognitive?.measures[name]?.value ?? null),
  }),
);

/** @param labels of the emotion model, for its probabilities */
export function allColumns(labels: readonly string[]): Column[] {
  return [
    ...firstColumns,
    ...signals.flatMap((signal) => signalColumns(signal, labels)),
    ...measureColumns,
    ...momentColumns,
    ...relativeColumns,
    ...lastColumns,
  ];
}

/** @param part of the rows of several channels or speakers */
export function columnsOf(
  kind: RowKind,
  part: Part['kind'] | null = null,
  labels: readonly string[] = [],
): Column[] {
  return allColumns(labels).filter((column) => column.rows.includes(kind) && (column.part ?? part) === part);
}

function signalColumns(signal: Signal, labels: readonly string[]): Column[] {
  const { scores, intervals, entry } = shapesOf(definitions[signal].body);
  const wideRows = (field: string): RowUnit[] => (field in entry ? ['file', 'utterance'] : ['file']);
  const columns = definitions[signal].columns.flatMap(({ name, field, table }): Column[] => [
    {
      name,
      ...kindOf(name, scores[field]),
      description: descriptionOf(scores[field]),
      rows: ['short', ...wideRows(field)],
      ...(table && { table }),
      value: (row) => toCell(scoresOf(signal, row)[field]),
    },
    ...(field in intervals
      ? intervalColumns(
          name,
          { ...score, rows: wideRows(field) },
          (row) => scoresOf(signal, row).intervals?.[field],
        )
      : []),
  ]);
  const probabilities = labels.map(
    (label): Column => ({
      name: `p_${label}`,
      ...score,
      description: descriptionOf(scores.emotions),
      rows: wideRows('emotions'),
      value: (row) => toCell(scoresOf(signal, row).emotions?.[label]),
    }),
  );
  return 'emotions' in scores ? [...columns, ...probabilities] : columns;
}

type Shape = Readonly<Record<string, unknown>>;

/** The fields of the scores of a recording, of their intervals, and of an entry of the timeline. */
function shapesOf({
  options: [{ shape }],
}: BodySchema): Readonly<Record<'scores' | 'intervals' | 'entry', Shape>> {
  const shapeIn = (schema: unknown): Shape => (schema instanceof z.ZodObject ? schema.shape : {});
  const scores = shapeIn(shape.signals);
  const entry = shapeIn(shape.timeline instanceof z.ZodArray ? shape.timeline.element : null);
  return { scores, intervals: shapeIn(scores.intervals), entry };
}

function kindOf(name: string, described: unknown): Pick<Column, 'type' | 'unit'> {
  const schema = described instanceof z.ZodNullable ? described.unwrap() : described;
  if (!(schema instanceof z.ZodNumber)) return text;
  if (schema.minValue === 0 && schema.maxValue === 1) return score;
  return { type: 'DOUBLE', unit: name.endsWith('_db') ? 'dB' : 'number' };
}

function descriptionOf(schema: unknown): string {
  return (schema instanceof z.ZodType && schema.description) || '';
}

type Scores = {
  readonly [field: string]: unknown;
  readonly emotions?: Readonly<Record<string, number>>;
  readonly intervals?: Readonly<Record<string, readonly number[] | null>>;
};

/** Of the recording, or of the utterance of a row. */
function scoresOf(signal: Signal, { result, utterance }: Row): Scores {
  const report = 'error' in result ? undefined : result.report[signal];
  if (report === undefined || utterance === undefined) return report?.signals ?? {};
  return ('timeline' in report && report.timeline[utterance]) || {};
}

function toCell(value: unknown): Cell {
  return typeof value === 'number' || typeof value === 'string' ? value : null;
}

/** The signals of a report, in the order of the table of signals. */
export function reportsOf(report: Report): (readonly [Signal, NonNullable<Report[Signal]>])[] {
  return signals.flatMap((signal) =>
    report[signal] === undefined ? [] : [[signal, report[signal]] as const],
  );
}

/** Warnings of all signals, each once. */
export function warningsOf(report: Report): Warning[] {
  return [...new Set(reportsOf(report).flatMap(([, { warnings }]) => warnings))];
}

/** Of the recording: that of the signals that the models have. */
function statusOf(report: Report): string | null {
  const all = reportsOf(report).map(([, { status }]) => status);
  return all.find((status) => status !== 'not_available') ?? all[0] ?? null;
}
