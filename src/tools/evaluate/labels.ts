/** Recordings, what people say about them, and their scores: what the evaluation keeps of their reports. */

import { appendFile, mkdir, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { defaultOptions } from '../../engine/index.ts';
import { correctionOf, type Manifest, signals } from '../../engine/schema.ts';
import { escapeControls, hasControls } from '../../node/controls.ts';
import { entryFile, version } from '../../node/paths.ts';
import { sha256 } from '../../service/sha256.ts';
import { suggest } from '../../service/suggest.ts';
import type { AnalyzeResult, AnalyzeSettings, AnalyzeTask } from '../analyze-thread.ts';
import { type CliContext, expected, UsageError } from '../context.ts';
import type { Report } from '../index.ts';
import { readNamedFile, readOwnFile } from '../inputs.ts';
import { mapInOrder } from '../map-in-order.ts';
import { countFiles, showProgress } from '../progress.ts';

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
const scoreLabel = z
  .string()
  .regex(/^(|0|1|0?\.\d+|[01]\.\d*)$/)
  .transform((value) => (value === '' ? null : Number(value)))
  .refine((value) => value === null || value <= 1);
const shape = {
  label,
  speaker: text,
  group: text,
  valence: scoreLabel,
  arousal: scoreLabel,
  clarity: scoreLabel,
};

/** `ignored` names the other columns, for people. */
type Labels = { readonly recordings: LabelledRecording[]; readonly ignored: readonly string[] };

/** @param folder of relative paths @throws LabelsError */
export function parseLabels(csv: string, folder: string): Labels {
  const [first, ...rows] = readRows(csv);
  const head = first?.record ?? [];
  if (!head.includes('path') || !truths.some((name) => head.includes(name)))
    throw new LabelsError(
      `Expected a first line with \`path\`, one or more of ${truths.join(', ')}, and speaker and group if known, got ${escapeControls(head.join(','))}`,
    );
  if (rows.length === 0) throw new LabelsError('Expected one or more recordings, got none');
  const lines = new Map<string, number>();
  const recordings = rows.map(({ record, info: { lines: line } }) => {
    const recording = toRecording(head, record, line, folder);
    const before = lines.get(recording.path);
    if (before !== undefined)
      throw new LabelsError(`Expected each path once, got that of line ${before} in line ${line} again`);
    lines.set(recording.path, line);
    return recording;
  });
  return { recordings, ignored: ignoredOf(head) };
}

function ignoredOf(head: readonly string[]): string[] {
  const absent = columns.filter((name) => !head.includes(name));
  const others = head.filter((name) => !columns.some((known) => known === name));
  return others.map((name) => {
    const meant = suggest(name, absent);
    return escapeControls(name) + (meant === null ? '' : ` (did you mean ${meant}?)`);
  });
}

type Row = { readonly record: string[]; readonly info: { readonly lines: number } };

function readRows(csv: string): Row[] {
  try {
    return parse(csv, { bom: true, trim: true, skip_empty_lines: true, info: true }) as unknown as Row[];
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
  valence: fraction.nullable(),
  arousal: fraction.nullable(),
  intervals: z.strictObject({ valence: interval.nullable(), arousal: interval.nullable() }),
  warnings: z.array(z.string()),
});
const cognitive = z.strictObject({
  clarity: fraction,
  intervals: z.strictObject({ clarity: interval }),
  warnings: z.array(z.string()),
});

/** Null: too little speech. */
const scoresSchema = z.strictObject({ emotion: emotion.nullable(), cognitive: cognitive.nullable() });

export type Scores = Readonly<z.infer<typeof scoresSchema>>;
export type EmotionScores = NonNullable<Scores['emotion']>;

function scoresOf({ emotion, cognitive }: Report): Scores {
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

// Scores the recordings of a file of labels: shows progress, and resumes from the file of an interrupted run.

type ScoreOptions = {
  readonly jobs: number;
  readonly settings: AnalyzeSettings;
  readonly terminal: CliContext;
  /** Also the mean embedding of each recording. */
  readonly embeddings: boolean;
};

export type ScoredLabels = {
  readonly scored: readonly ({ readonly recording: LabelledRecording } & ScoredFile)[];
  /** Recordings that could not be analysed. */
  readonly failed: number;
};

/** @param folder of the file of scores; made if needed */
export async function scoreLabels(
  recordings: readonly LabelledRecording[],
  folder: string,
  manifests: readonly Manifest[],
  options: ScoreOptions,
): Promise<ScoredLabels> {
  await mkdir(folder, { recursive: true }).catch((error: Error) => {
    throw expected('a folder that can be written', '--out', error.message);
  });
  const file = await openScoresFile(join(folder, 'scores.jsonl'), manifests, options.embeddings);
  const failed = await score(await findMissing(recordings, file), file, options);
  const scored = recordings.flatMap((recording) => {
    const found = file.of(recording.path);
    return found === undefined ? [] : [{ recording, ...found }];
  });
  return { scored, failed };
}

/** @returns how many recordings could not be analysed */
async function score(
  paths: readonly string[],
  file: ScoresFile,
  { jobs, settings, terminal, embeddings }: ScoreOptions,
): Promise<number> {
  const tasks = paths.map((path) => toTask(path, embeddings));
  const lost = (_: AnalyzeTask, { message }: Error): AnalyzeResult => ({
    error: { loc: ['body', 'audio'], msg: 'internal error', type: 'internal' },
    cause: message,
  });
  const progress = showProgress(tasks.length, terminal);
  let done = 0;
  let failed = 0;
  for await (const result of mapInOrder({
    file: entryFile('tools/analyze-thread'),
    jobs,
    settings,
    tasks,
    lost,
  })) {
    const path = paths[done++] as string;
    if ('error' in result) {
      failed++;
      progress.note(result.cause ?? result.error.msg, path);
    } else await file.add(path, result);
    await progress.step();
  }
  progress.end(`${countFiles(done)} analysed, ${failed} failed`);
  return failed;
}

/** Names the columns that are ignored on standard error. Returns the recordings and the hash of the file. @throws UsageError */
export async function readLabels(path: string, { stderr }: CliContext) {
  const bytes = await readNamedFile('labels', path);
  try {
    const { recordings, ignored } = parseLabels(bytes.toString(), dirname(resolve(path)));
    if (ignored.length > 0) stderr.write(`${path}: ignored columns: ${ignored.join(', ')}\n`);
    return { recordings, sha256: sha256(bytes) };
  } catch (error) {
    throw error instanceof LabelsError ? new UsageError(`${path}: ${error.message}`) : error;
  }
}

/** Recordings without scores of these models, or that have changed since. Each path once. */
async function findMissing(recordings: readonly LabelledRecording[], file: ScoresFile): Promise<string[]> {
  const paths = [...new Set(recordings.map(({ path }) => path))];
  const known = await Promise.all(paths.map((path) => file.isCurrent(path)));
  return paths.filter((_, index) => !known[index]);
}

function toTask(path: string, embeddings: boolean): AnalyzeTask {
  const { channel, track, segments, speakers } = defaultOptions;
  return { path, bytes: null, optional: false, signals, channel, track, segments, speakers, embeddings };
}

// Scores of labelled recordings as JSON lines, from which an interrupted run resumes.

const embeddingDecimals = 5;

const headSchema = z.strictObject({
  undertone: z.string(),
  /** Hashes of weights and correction. */
  models: z.record(z.string(), z.array(z.string().nullable())),
  embeddings: z.boolean(),
});
/** Size and time of change identify the content of a file. */
const lineSchema = z.strictObject({
  path: z.string(),
  size: z.number(),
  modified_ms: z.number(),
  scores: scoresSchema,
  /** Mean of the recording; null with too little speech, and when not requested. */
  embedding: z.array(z.number()).nullable(),
});
type Line = z.infer<typeof lineSchema>;

type ScoredFile = Pick<Line, 'scores' | 'embedding'>;

type ScoresFile = {
  /** Whether there are scores of the file as it is. Forgets older ones. */
  isCurrent(path: string): Promise<boolean>;
  add(path: string, result: Exclude<AnalyzeResult, { error: unknown }>): Promise<void>;
  of(path: string): ScoredFile | undefined;
};

/** Scores of other models or another version are discarded. */
export async function openScoresFile(
  file: string,
  manifests: readonly Manifest[],
  embeddings: boolean,
): Promise<ScoresFile> {
  const models = Object.fromEntries(
    manifests.map((manifest) => [
      manifest.name,
      [manifest.weights.sha256, correctionOf(manifest)?.sha256 ?? null],
    ]),
  );
  const head = JSON.stringify({ undertone: version, models, embeddings } satisfies z.infer<
    typeof headSchema
  >);
  const [first, ...rest] = (await readOwnFile('--out', file)).split('\n');
  const kept = first === head ? rest.flatMap(parseLine) : [];
  const text = [head, ...kept.map((line) => JSON.stringify(line)), ''].join('\n');
  await writeFile(file, text).catch((error: Error) => {
    throw expected('a folder that can be written', '--out', error.message);
  });
  const lines = new Map(kept.map((line) => [line.path, line]));
  return {
    async isCurrent(path) {
      const line = lines.get(path);
      const state = line === undefined ? null : await stateOf(path).catch(() => null);
      const current = state !== null && line?.size === state.size && line.modified_ms === state.modified_ms;
      if (!current) lines.delete(path);
      return current;
    },
    async add(path, result) {
      const line = {
        path,
        ...(await stateOf(path)),
        scores: scoresOf(result.report as Report),
        embedding: embeddings ? embeddingOf(result) : null,
      };
      lines.set(path, line);
      await appendFile(file, `${JSON.stringify(line)}\n`);
    },
    of: (path) => lines.get(path),
  };
}

function embeddingOf(result: Exclude<AnalyzeResult, { error: unknown }>): number[] | null {
  const { recording } = ('embeddings' in result && result.embeddings) || { recording: null };
  return recording && Array.from(recording, (value) => Number(value.toFixed(embeddingDecimals)));
}

/** The last line of an interrupted run may be cut. */
function parseLine(text: string): Line[] {
  try {
    return [lineSchema.parse(JSON.parse(text))];
  } catch {
    return [];
  }
}

async function stateOf(path: string): Promise<Pick<Line, 'size' | 'modified_ms'>> {
  const { size, mtimeMs } = await stat(path);
  return { size, modified_ms: mtimeMs };
}
