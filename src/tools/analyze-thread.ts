/** Thread entry of `undertone analyze`: analyses one file at a time. */
import { parentPort, workerData } from 'node:worker_threads';
import { type DecodeLimits, ModelError, type SpeakerMode } from '../engine/index.ts';
import type { Signal } from '../engine/schema.ts';
import { escapeControls } from '../node/controls.ts';
import { FileError, type ReadOptions, readRegularFile } from '../node/files.ts';
import { reportReady } from '../service/workers/protocol.ts';
import {
  analyze,
  analyzeChannels,
  analyzeSpeakers,
  type ChannelsReport,
  type Embeddings,
  embed,
  Failure,
  type PooledEmbeddings,
  type Report,
  type SpeakerSegment,
  type SpeakersReport,
  type ValidationItem,
} from './index.ts';
import { displayPath, type Input } from './inputs.ts';

export type AnalyzeSettings = {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
  /** Of a file. */
  readonly maxBytes: number;
  readonly roots?: ReadOptions['roots'];
  readonly baselines?: readonly Uint8Array[];
};

export type AnalyzeTask = Omit<Input, 'name'> & {
  readonly signals: readonly Signal[];
  /** `split`: each of two channels alone. */
  readonly channel: number | 'split' | null;
  readonly track: number | null;
  /** Not null: each speaker alone. */
  readonly segments: readonly SpeakerSegment[] | null;
  /** Not null: each voice alone. */
  readonly speakers: SpeakerMode | null;
  /** Those of the settings by default. */
  readonly baselines?: readonly Uint8Array[];
  readonly embeddings?: boolean;
  /** Embeddings in place of scores. */
  readonly embedOnly?: boolean;
};

/** Posted after each chunk of a recording that has several. */
export type FileProgress = { readonly path: string; readonly part: number };

export type FileResult = { readonly report: Report; readonly embeddings?: PooledEmbeddings } | FailedFile;

/** @see AnalyzeTask */
export type AnalyzeResult = FileResult | { readonly report: ChannelsReport | SpeakersReport };
/** Of a task with `embedOnly`. */
export type EmbedResult = { readonly report: Embeddings } | FailedFile;

type FailedFile =
  /** `cause` is the stack of an internal error, for standard error. */
  { readonly error: ValidationItem; readonly cause: string | null };

const settings = workerData as AnalyzeSettings;

reportReady();

/** Never rejects: an error is a result. */
export async function run(task: AnalyzeTask): Promise<AnalyzeResult | EmbedResult> {
  try {
    const { channel, segments, speakers, signals, embeddings: wanted = false } = task;
    const { baselines: shared = [], maxBytes, roots = null, ...common } = settings;
    const onProgress = (analyzed: number, duration: number | null) => {
      if (duration === null || analyzed >= duration) return;
      parentPort?.postMessage({ path: task.path, part: analyzed / duration } satisfies FileProgress);
    };
    const options = { ...common, track: task.track, fileName: task.path, onProgress };
    const read = { maxBytes, roots, setting: 'UNDERTONE_JOB_MAX_BYTES' };
    const audio = task.bytes ?? (await readRegularFile(task.path, read));
    if (task.embedOnly) return { report: await embed(audio, { ...options, channel: null }) };
    if (channel === 'split') return { report: await analyzeChannels(audio, options) };
    const separate = segments ?? speakers;
    if (separate !== null) return { report: await analyzeSpeakers(audio, separate, { ...options, channel }) };
    const baseline = task.baselines ?? shared;
    const one = { ...options, baseline, channel, signals, embeddings: wanted };
    const { embeddings, ...report } = await analyze(audio, one);
    return { report, ...(embeddings && { embeddings }) };
  } catch (error) {
    return toResult(error, task.path);
  }
}

function toResult(error: unknown, path: string): FailedFile {
  const item = (msg: string, type: string): ValidationItem => ({ loc: ['body', 'audio'], msg, type });
  if (error instanceof Failure) {
    const found = error.items[0] ?? item(error.message, `value_error.audio.${error.code}`);
    if (found.type !== 'value_error.audio.too_long') return { error: found, cause: null };
    return { error: { ...found, msg: `${found.msg}: UNDERTONE_MAX_SECONDS sets the limit` }, cause: null };
  }
  if (error instanceof FileError) {
    const msg =
      error.got === 'ENOENT'
        ? `No such file: ${escapeControls(displayPath(path))}`
        : `Expected a readable file for \`audio\`, got ${error.got}`;
    return { error: item(msg, 'value_error.audio.unreadable'), cause: null };
  }
  if (error instanceof ModelError) {
    return {
      error: { loc: ['body', 'models'], msg: error.message, type: 'value_error.models' },
      cause: null,
    };
  }
  return { error: item('internal error', 'internal'), cause: (error as Error).stack ?? String(error) };
}
