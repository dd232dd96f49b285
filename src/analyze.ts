/** The pipeline in one screen: bytes -> samples -> features -> activity -> windows -> scores -> signals. */
import {
  type Audio,
  type DecodeLimits,
  decode,
  extract,
  type Features,
  measure,
  type Quality,
} from './audio.ts';
import { Failure, invalidPart } from './errors.ts';
import type { Manifest } from './models/manifest.ts';
import { loadModels, type Models } from './models/registry.ts';
import type { Values } from './models/session.ts';
import { computeIndex, type Index } from './signals/indices.ts';
import { type Interval, interval } from './signals/intervals.ts';
import { type Measures, measureTiming } from './signals/measures.ts';
import { poolWindows } from './signals/pooling.ts';
import { countFrames, findSegments, type Segment } from './signals/segments.ts';
import { countFaults, type RecordingWarning, warnOfRecording } from './signals/warnings.ts';
import { cutWindows, type Window } from './signals/windows.ts';

export type Signal = 'emotion' | 'cognitive';

export type AnalyzeRequest = {
  readonly audio: Uint8Array;
  /** The same speaker, rested: makes the cognitive signals relative. */
  readonly baseline: Uint8Array | null;
  /** 0-based channel, or null for the average of all. */
  readonly channel: number | null;
  readonly signals: readonly Signal[];
  /** Shared with the caller: a value other than 0 stops the work at the next stage. */
  readonly cancel: Int32Array | null;
};

export type EmotionScores = {
  readonly start: number;
  readonly end: number;
  readonly probabilities: readonly number[];
  readonly valence: number;
  readonly arousal: number;
};

export type EmotionResult = Omit<EmotionScores, 'start' | 'end'> & {
  readonly labels: readonly string[];
  readonly intervals: { readonly valence: Interval; readonly arousal: Interval };
  readonly timeline: readonly EmotionScores[];
  readonly lowConfidence: boolean;
  readonly shortSpeech: boolean;
};

export type CognitiveResult = {
  readonly clarity: number;
  readonly intervals: { readonly clarity: Interval };
  readonly cognitiveLoad: Index;
  readonly processing: Index;
  readonly measures: Measures;
  readonly timeline: readonly { readonly start: number; readonly end: number; readonly clarity: number }[];
  readonly relative: boolean;
  readonly shortSpeech: boolean;
};

export type Analysis = {
  readonly audio: {
    readonly seconds: number;
    readonly speechSeconds: number;
    readonly source: Audio['source'];
  } & Quality;
  /** Null when there was too little speech, or when the signal was not asked for. */
  readonly emotion: EmotionResult | null;
  readonly cognitive: CognitiveResult | null;
  readonly insufficientSpeech: boolean;
  readonly warnings: readonly RecordingWarning[];
  readonly models: Readonly<Record<Signal, Manifest>>;
  readonly stages: readonly Stage[];
};

export type Stage = { readonly name: string; readonly ms: number };

export type Analyzer = { analyze(request: AnalyzeRequest): Promise<Analysis> };

/** Less speech than this is not judged. */
const minSpeechSeconds = 0.5;
const tokensPerFrame = 0.5;

type Heard = {
  readonly audio: Audio;
  readonly features: Features;
  readonly speech: Float32Array;
  readonly syllableRate: Float32Array;
  readonly segments: readonly Segment[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

type Pooled = { readonly window: Window; readonly tokens: Values; readonly weights: Values };

/** Loads every model of `modelsDir` for the calling thread. One analysis at a time a thread. */
export async function createAnalyzer(options: {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
}): Promise<Analyzer> {
  const models = await loadModels(options.modelsDir);
  return { analyze: (request) => analyze(request, models, options.limits) };
}

async function analyze(request: AnalyzeRequest, models: Models, limits: DecodeLimits): Promise<Analysis> {
  const watch = startWatch(request.cancel);
  const heard = await hear('audio', request.audio, request, models, limits, watch);
  const wanted = (signal: Signal) => request.signals.includes(signal);
  const baseline =
    request.baseline !== null && wanted('cognitive')
      ? await measureBaseline(request.baseline, request, models, limits, watch)
      : null;
  const quality = measure(heard.audio.samples, heard.audio.sampleRate, segmentSeconds(heard));
  const warnings = warnOfRecording(heard.audio.source, quality);
  watch.mark('quality');
  const insufficientSpeech = heard.speechSeconds < minSpeechSeconds;
  const pooled = insufficientSpeech ? [] : await encode(heard, models, watch);
  const faults = countFaults(warnings);
  const enough = pooled.length > 0;
  return {
    audio: {
      seconds: heard.audio.seconds,
      speechSeconds: heard.speechSeconds,
      source: heard.audio.source,
      ...quality,
    },
    emotion: enough && wanted('emotion') ? await scoreEmotion(heard, pooled, models, faults, watch) : null,
    cognitive:
      enough && wanted('cognitive')
        ? await scoreCognitive(heard, pooled, models, faults, baseline, watch)
        : null,
    insufficientSpeech: !enough,
    warnings,
    models: { emotion: models.emotion.manifest, cognitive: models.cognitive.manifest },
    stages: watch.stages,
  };
}

/** Decode, features and speech activity of one part of the upload. */
async function hear(
  part: 'audio' | 'baseline',
  bytes: Uint8Array,
  { channel, cancel }: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  watch: Watch,
): Promise<Heard> {
  const spec = models.features;
  const audio = decodePart(part, bytes, {
    sampleRate: spec.sampleRate,
    channel: part === 'audio' ? channel : null,
    limits,
    cancel,
  });
  watch.mark('decode');
  const features = extract(audio.samples, spec);
  watch.mark('features');
  const framesPerSecond = spec.sampleRate / spec.hop;
  if (features.frames === 0) {
    const none = new Float32Array(0);
    return {
      audio,
      features,
      speech: none,
      syllableRate: none,
      segments: [],
      framesPerSecond,
      speechSeconds: 0,
    };
  }
  const outputs = await models.activity.session.run({
    features: { data: features.data, shape: [1, features.frames, features.bins] },
  });
  const speech = outputs.speech as Values;
  const syllableRate = outputs.syllable_rate as Values;
  const segments = findSegments(speech.data, framesPerSecond, models.activity.manifest.rule);
  watch.mark('activity');
  return {
    audio,
    features,
    speech: speech.data,
    syllableRate: syllableRate.data,
    segments,
    framesPerSecond,
    speechSeconds: countFrames(segments) / framesPerSecond,
  };
}

const clientFaults = new Set([
  'empty',
  'malformed',
  'unsupported',
  'too_long',
  'too_many_channels',
  'sample_rate',
  'channel',
]);

function decodePart(
  part: 'audio' | 'baseline',
  bytes: Uint8Array,
  options: Parameters<typeof decode>[1],
): Audio {
  try {
    return decode(bytes, options);
  } catch (error) {
    const { code, message } = error as Error & { code?: string };
    if (code === 'deadline' || code === 'cancelled')
      throw new Failure('deadline', 'the analysis was stopped');
    if (code === undefined || !clientFaults.has(code)) throw error;
    const loc = code === 'channel' ? 'channel' : part;
    throw invalidPart(loc, `value_error.audio.${code}`, message);
  }
}

async function measureBaseline(
  bytes: Uint8Array,
  request: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  watch: Watch,
): Promise<Measures> {
  const heard = await hear('baseline', bytes, request, models, limits, watch);
  if (heard.speechSeconds < minSpeechSeconds) {
    const got = `${heard.speechSeconds.toFixed(2)} s`;
    throw invalidPart(
      'baseline',
      'value_error.audio.insufficient_speech',
      `Expected at least ${minSpeechSeconds} s of speech for \`baseline\`, got ${got}`,
    );
  }
  return measureTiming(heard);
}

/** One trunk pass a window; the heads share its tokens. */
async function encode(heard: Heard, models: Models, watch: Watch): Promise<Pooled[]> {
  const { windowSeconds } = models.trunk.manifest.rule;
  const { bins, data, frames } = heard.features;
  const pooled: Pooled[] = [];
  for (const window of cutWindows(heard.segments, frames, heard.framesPerSecond, windowSeconds)) {
    const slice = data.subarray(window.start * bins, window.end * bins);
    const outputs = await models.trunk.session.run({
      features: { data: slice, shape: [1, window.end - window.start, bins] },
    });
    const tokens = outputs.tokens as Values;
    pooled.push({ window, tokens, weights: tokenWeights(heard.speech, window, tokens.shape[1] as number) });
    watch.check();
  }
  watch.mark('trunk');
  return pooled;
}

/** Speech probability of each token: the mean over its frames. */
function tokenWeights(speech: Float32Array, window: Window, count: number): Values {
  const weights = new Float32Array(count);
  const frames = 1 / tokensPerFrame;
  for (let token = 0; token < count; token++) {
    const from = window.start + token * frames;
    const to = Math.min(window.end, from + frames);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] as number;
    weights[token] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}

async function scoreEmotion(
  heard: Heard,
  pooled: readonly Pooled[],
  models: Models,
  faults: number,
  watch: Watch,
): Promise<EmotionResult> {
  const { labels, rule } = models.emotion.manifest;
  const rows: number[][] = [];
  for (const { tokens, weights } of pooled) {
    const { probabilities, valence, arousal } = await models.emotion.session.run({ tokens, weights });
    rows.push([first(valence), first(arousal), ...(probabilities as Values).data]);
  }
  const toScores = (row: readonly number[]) => ({
    valence: row[0] as number,
    arousal: row[1] as number,
    probabilities: row.slice(2),
  });
  const pool = toScores(
    poolWindows(
      rows,
      pooled.map(({ window }) => window.speechFrames),
    ),
  );
  const bound = (score: number, halfWidth: number) =>
    interval(score, halfWidth, heard.speechSeconds, rule.shortSpeechSeconds, faults);
  watch.mark('emotion');
  return {
    ...pool,
    labels,
    intervals: {
      valence: bound(pool.valence, rule.intervals.valence),
      arousal: bound(pool.arousal, rule.intervals.arousal),
    },
    timeline: pooled.map(({ window }, index) => ({
      ...inSeconds(window, heard),
      ...toScores(rows[index] as number[]),
    })),
    lowConfidence: Math.max(...pool.probabilities) < rule.lowConfidence,
    shortSpeech: heard.speechSeconds < rule.shortSpeechSeconds,
  };
}

async function scoreCognitive(
  heard: Heard,
  pooled: readonly Pooled[],
  models: Models,
  faults: number,
  baseline: Measures | null,
  watch: Watch,
): Promise<CognitiveResult> {
  const { rule } = models.cognitive.manifest;
  const rows: number[][] = [];
  for (const { tokens, weights } of pooled) {
    rows.push([first((await models.cognitive.session.run({ tokens, weights })).clarity)]);
  }
  const clarity = poolWindows(
    rows,
    pooled.map(({ window }) => window.speechFrames),
  )[0] as number;
  const measures = measureTiming(heard);
  watch.mark('cognitive');
  return {
    clarity,
    intervals: {
      clarity: interval(
        clarity,
        rule.intervals.clarity,
        heard.speechSeconds,
        rule.shortSpeechSeconds,
        faults,
      ),
    },
    cognitiveLoad: computeIndex(measures, rule.cognitiveLoad, rule.reference, baseline),
    processing: computeIndex(measures, rule.processing, rule.reference, baseline),
    measures,
    timeline: pooled.map(({ window }, index) => ({
      ...inSeconds(window, heard),
      clarity: rows[index]?.[0] as number,
    })),
    relative: baseline !== null,
    shortSpeech: heard.speechSeconds < rule.shortSpeechSeconds,
  };
}

function first(values: Values | undefined): number {
  return values?.data[0] as number;
}

function inSeconds({ start, end }: Segment, { framesPerSecond }: Heard): { start: number; end: number } {
  return { start: start / framesPerSecond, end: end / framesPerSecond };
}

/** Start and end of each segment in seconds, flat. */
function segmentSeconds({ segments, framesPerSecond }: Heard): Float64Array {
  return Float64Array.from(
    segments.flatMap(({ start, end }) => [start / framesPerSecond, end / framesPerSecond]),
  );
}

type Watch = { readonly stages: Stage[]; mark(name: string): void; check(): void };

/** Times the stages, and stops between them when the caller has raised the flag. */
function startWatch(cancel: Int32Array | null): Watch {
  const stages: Stage[] = [];
  let last = performance.now();
  const check = () => {
    if (cancel !== null && Atomics.load(cancel, 0) !== 0)
      throw new Failure('deadline', 'the analysis was stopped');
  };
  const mark = (name: string) => {
    const now = performance.now();
    stages.push({ name, ms: now - last });
    last = now;
    check();
  };
  return { stages, mark, check };
}
