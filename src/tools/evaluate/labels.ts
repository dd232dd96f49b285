/** Recordings, what people say about them, and what the evaluation keeps of their reports. */
import { resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { escapeControls, hasControls } from '../../node/files.ts';
import { suggest } from '../../service/config.ts';
import type { Report } from '../index.ts';

// The CSV file of `undertone evaluate`: recordings and what people say about them.

export type LabelledRecording = {
  /** Absolute. */
  readonly path: string;
  /** In lower case. Null where the column is absent or the cell is empty, as for all columns. */
  readonly label: string | null;
  /** 0 to 1. */
  readonly valence: number | null;
  readonly arousal: number | null;
  readonly clarity: number | null;
  readonly speaker: string | null;
  readonly group: string | null;
};

/** What is wrong with the file, for its owner. */
export class LabelsError extends Error {}

const columns = ['path', 'label', 'valence', 'arousal', 'clarity', 'speaker', 'group'] as const;
/** Of manifests, cards and reports. */
const texts = ['label', 'speaker', 'group'] as const;
const truths = ['label', 'valence', 'arousal', 'clarity'] as const;

/** Common names of the labels of the emotion model. */
const synonyms: Readonly<Record<string, string>> = {
  anger: 'angry',
  disgust: 'disgusted',
  fear: 'fearful',
  happiness: 'happy',
  joy: 'happy',
  sadness: 'sad',
  surprise: 'surprised',
};

const label = z
  .string()
  .transform((value) => value.toLowerCase())
  .transform((value) => (value === '' ? null : (synonyms[value] ?? value)));
const text = z.string().transform((value) => (value === '' ? null : value));
const score = z
  .string()
  .regex(/^(|0|1|0?\.\d+|[01]\.\d*)$/)
  .transform((value) => (value === '' ? null : Number(value)))
  .refine((value) => value === null || value <= 1);
const shape = { label, speaker: text, group: text, valence: score, arousal: score, clarity: score };

/** `ignored` names the other columns, for people. */
type Labels = { readonly recordings: LabelledRecording[]; readonly ignored: readonly string[] };

/** @param folder of relative paths @throws LabelsError */
export function parseLabels(csv: string, folder: string): Labels {
  const [head = [], ...rows] = readRows(csv);
  if (!head.includes('path') || !truths.some((name) => head.includes(name)))
    throw new LabelsError(
      `Expected a first line with \`path\`, one or more of ${truths.join(', ')}, and speaker and group if known, got ${escapeControls(head.join(','))}`,
    );
  if (rows.length === 0) throw new LabelsError('Expected one or more recordings, got none');
  return {
    recordings: rows.map((cells, index) => toRecording(head, cells, index + 2, folder)),
    ignored: ignoredOf(head),
  };
}

function ignoredOf(head: readonly string[]): string[] {
  const absent = columns.filter((name) => !head.includes(name));
  const others = head.filter((name) => !columns.some((known) => known === name));
  return others.map((name) => {
    const meant = suggest(name, absent);
    return escapeControls(name) + (meant === null ? '' : ` (did you mean ${meant}?)`);
  });
}

function readRows(csv: string): string[][] {
  try {
    return parse(csv, { bom: true, trim: true, skip_empty_lines: true });
  } catch (error) {
    if (error instanceof CsvError)
      throw new LabelsError(`Expected CSV, got a file that is none: ${error.message}`);
    throw error;
  }
}

function toRecording(
  head: readonly string[],
  cells: readonly string[],
  line: number,
  folder: string,
): LabelledRecording {
  const of = (name: string) => cells[head.indexOf(name)] ?? '';
  if (of('path') === '') throw new LabelsError(`Expected a path in line ${line}, got none`);
  const unsafe = texts.find((name) => hasControls(of(name)));
  if (unsafe !== undefined)
    throw new LabelsError(
      `Expected text without control characters for \`${unsafe}\` in line ${line}, got ${escapeControls(of(unsafe))}`,
    );
  const parsed = z.object(shape).safeParse(Object.fromEntries(columns.map((name) => [name, of(name)])));
  if (!parsed.success) {
    const name = String(parsed.error.issues[0]?.path[0]);
    throw new LabelsError(`Expected a number from 0 to 1 for \`${name}\` in line ${line}, got ${of(name)}`);
  }
  return { ...parsed.data, path: resolve(folder, of('path')) };
}

// What the evaluation keeps of a report: scores and warnings, nothing of the audio.

const fraction = z.number().min(0).max(1);
const interval = z.tuple([fraction, fraction]);

const emotion = z.strictObject({
  probabilities: z.record(z.string(), fraction),
  valence: fraction,
  arousal: fraction,
  intervals: z.strictObject({ valence: interval, arousal: interval }),
  warnings: z.array(z.string()),
});
const cognitive = z.strictObject({
  clarity: fraction,
  intervals: z.strictObject({ clarity: interval }),
  warnings: z.array(z.string()),
});

/** Null: too little speech. */
export const scoresSchema = z.strictObject({ emotion: emotion.nullable(), cognitive: cognitive.nullable() });

export type Scores = Readonly<z.infer<typeof scoresSchema>>;
export type EmotionScores = NonNullable<Scores['emotion']>;

export function scoresOf({ emotion, cognitive }: Report): Scores {
  return {
    emotion:
      emotion?.status === 'ok'
        ? scoresSchema.shape.emotion.parse({
            probabilities: emotion.signals.emotions,
            valence: emotion.signals.valence,
            arousal: emotion.signals.arousal,
            intervals: emotion.signals.intervals,
            warnings: emotion.warnings,
          })
        : null,
    cognitive:
      cognitive?.status === 'ok'
        ? scoresSchema.shape.cognitive.parse({
            clarity: cognitive.signals.clarity,
            intervals: { clarity: cognitive.signals.intervals.clarity },
            warnings: cognitive.warnings,
          })
        : null,
  };
}
