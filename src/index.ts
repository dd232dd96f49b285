/** What the package offers to a Node program. All of it works on the calling thread: mind your event loop. */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Analyzer, createAnalyzer } from './analysis/analyze.ts';
import { type CombinedReport, combinedReport } from './analysis/report.ts';
import { signals as allSignals, type Signal } from './analysis/signals/table.ts';
import type { AnalyzeRequest } from './analysis/types.ts';
import { type Audio, type DecodeLimits, decode as decodeAll } from './audio/addon.ts';
import { toValidationItem, type ValidationItem } from './openapi/errors.ts';
import { parseConfig } from './runtime/config.ts';
import { type ErrorCode, ServiceError } from './runtime/errors.ts';

export type { Signal } from './analysis/signals/table.ts';
export {
  type Audio,
  type AudioError,
  type AudioErrorCode,
  type DecodeLimits,
  extract,
  type FeatureSpec,
  type Features,
  featuresVersion,
  isAudioError,
  type Source,
} from './audio/addon.ts';
export { specs } from './audio/feature-presets.ts';
export type { ValidationItem } from './openapi/errors.ts';

/** Thrown by `analyze` for a recording that cannot be analysed. */
export class Failure extends Error {
  override readonly name = 'Failure';
  readonly code: ErrorCode;
  /** As `detail` in the answers of the HTTP service. */
  readonly items: readonly ValidationItem[];

  constructor({ code, message, problems }: ServiceError) {
    super(message);
    this.code = code;
    this.items = problems.map(toValidationItem);
  }
}

export type DecodeOptions = {
  /** Hz; 16000 when left out. */
  readonly sampleRate?: number;
  /** 0-based; null, or left out, averages all channels. */
  readonly channel?: number | null;
  /** Those of the service where left out. */
  readonly limits?: Partial<DecodeLimits>;
  /** Element 0 other than 0 stops the call; shared memory lets another thread do it. */
  readonly cancel?: Int32Array | null;
};

export type AnalyzeOptions = {
  /** Both when left out. */
  readonly signals?: readonly Signal[];
  /** The same speaker, rested: makes the cognitive signals relative. */
  readonly baseline?: Uint8Array | null;
  /** 0-based; null averages all channels. */
  readonly channel?: number | null;
  /** The models that come with the package when left out. */
  readonly modelsDir?: string;
  /** Those of the service when left out. */
  readonly limits?: DecodeLimits;
};

/** The reports of the HTTP service without its request id; a signal that was not asked for is absent. */
export type Report = Pick<CombinedReport, 'audio'> & Partial<Pick<CombinedReport, Signal>>;

/** From src/ and from dist/src/. */
const modelPlaces = ['../models/standard', '../../models/standard'].map((place) =>
  fileURLToPath(new URL(place, import.meta.url)),
);
const analyzers = new Map<string, Promise<Analyzer>>();
let last: Promise<unknown> = Promise.resolve();

/** The folder of the models that come with the package. */
export const shippedModels = modelPlaces.find((place) => existsSync(place)) ?? (modelPlaces[0] as string);

/** A whole file of any supported format; throws an AudioError and never gives half a result. */
export function decode(bytes: Uint8Array, options: DecodeOptions = {}): Audio {
  const { sampleRate = 16_000, channel = null, limits, cancel = null } = options;
  const all = { ...parseConfig({}).limits, ...limits };
  return decodeAll(bytes, { sampleRate, channel, limits: all, cancel });
}

/** One analysis at a time. The first call loads the models. @throws Failure for a recording that cannot be taken */
export function analyze(audio: Uint8Array, options: AnalyzeOptions = {}): Promise<Report> {
  const done = last.then(() => report(audio, options)).catch(rethrow);
  last = done.catch(() => {});
  return done;
}

function rethrow(error: unknown): never {
  throw error instanceof ServiceError ? new Failure(error) : error;
}

async function report(audio: Uint8Array, options: AnalyzeOptions): Promise<Report> {
  const { signals = allSignals, baseline = null, channel = null } = options;
  const { modelsDir = shippedModels, limits = parseConfig({}).limits } = options;
  const request: AnalyzeRequest = { audio, baseline, channel, signals, cancel: null };
  const analysis = await (await loadAnalyzer(modelsDir, limits)).analyze(request);
  const full = combinedReport(analysis, '');
  const wanted = allSignals.filter((signal) => signals.includes(signal));
  return { ...Object.fromEntries(wanted.map((signal) => [signal, full[signal]])), audio: full.audio };
}

/** Models are kept for every further call; a folder that could not be loaded is tried again. */
function loadAnalyzer(modelsDir: string, limits: DecodeLimits): Promise<Analyzer> {
  const key = JSON.stringify([modelsDir, limits]);
  const known = analyzers.get(key);
  if (known !== undefined) return known;
  const loading = createAnalyzer({ modelsDir, limits });
  analyzers.set(key, loading);
  loading.catch(() => analyzers.delete(key));
  return loading;
}
