/** The pipeline: bytes -> chunks of samples -> speech -> utterances -> embeddings -> signals. */

import { type Analysis, aggregate, shiftToRecording, spanOf, utterancesOf } from './aggregate.ts';
import { analyzeChunk, type ChunkResult, type ScoredChunk, scoreChunk } from './analyze-chunk.ts';
import { sum } from './arrays.ts';
import {
  type ChunkDetector,
  type Chunking,
  defaultChunking,
  detectChunks,
  openDecoders,
  type SpeechChunk,
  type UploadPart,
} from './chunks.ts';
import { replay, syntheticSignal } from './golden.ts';
import { analyzeLive, type LiveResult, type LiveStep } from './live.ts';
import { available, type Models } from './loader.ts';
import { type AnalyzeOptions, longSeconds, type SpeakerSegment } from './options.ts';
import {
  type DecodeLimits,
  EngineError,
  type Hash,
  type IncrementalDecoder,
  type Platform,
  type Source,
} from './platform.ts';
import { type Segment, subtract, union } from './segments.ts';
import { separateSpeakers } from './separation.ts';
import type { Baseline } from './signals/definition.ts';
import { describeChunk, type SpeakerChunk } from './signals/speaker.ts';
import { definitions, type Signal } from './signals/table.ts';
import { restrictToSpeaker, soloSpans } from './speaker-segments.ts';
import { type StageTimer, startStageTimer } from './timer.ts';

export type AnalyzeRequest = AnalyzeOptions & {
  readonly audio: Uint8Array;
  /** Recordings of the same speaker at rest, at most `maxBaselines`, with which the recording is compared. */
  readonly baselines: readonly Uint8Array[];
  readonly signals: readonly Signal[];
  /** Adds the hash of the samples to the analysis. */
  readonly hashSamples?: boolean;
  /** Adds the embeddings to the analysis. */
  readonly embeddings?: boolean;
  /** In place of those of the analyzer. */
  readonly limits?: Partial<DecodeLimits>;
  /** Shared with the caller: a value other than 0 cancels the analysis at the next stage. */
  readonly cancel: Int32Array | null;
  /** Called between units of work, of some 0.1 s at most: the analysis waits for it. Returns whether others ran. */
  readonly yieldToOthers?: (() => Promise<boolean>) | undefined;
};

/** One analysis, or one per channel or speaker. */
export type Analyses = readonly [Analysis, ...Analysis[]];

/**
 * Called after each chunk with the seconds analysed so far and the declared duration: null when none is declared, never
 * less than what was analysed, and exact after the last chunk. The analysis waits for it.
 */
type OnChunk = (analyzedSeconds: number, durationSeconds: number | null) => void | Promise<void>;

export type Analyzer = {
  /** Calls must not overlap. @throws EngineError for a recording that cannot be analysed */
  analyze(request: AnalyzeRequest, onChunk?: OnChunk): Promise<Analyses>;
  /** Returns null for a recording of over `longSeconds`, once that is known. @throws EngineError */
  analyzeUnlessLong(request: AnalyzeRequest): Promise<Analyses | null>;
  /** Analyses what came of a stream. @throws EngineError */
  live(step: LiveStep & { readonly cancel: Int32Array | null }): Promise<LiveResult>;
  /** Runs every model once: the first run of a session is slower. */
  warm(): Promise<void>;
  readonly models: Models;
};

const warmUpSeconds = 10;

export function analyzerOf(
  models: Models,
  limits: DecodeLimits,
  chunking: Chunking = defaultChunking,
): Analyzer {
  const context = { models, limits, chunking };
  return {
    analyze: async (request, onChunk = () => {}) =>
      (await analyze(request, context, { onChunk, maxSeconds: null })) as Analyses,
    analyzeUnlessLong: (request) => analyze(request, context, { onChunk: () => {}, maxSeconds: longSeconds }),
    live: (step) => analyzeLive(step, models, limits),
    models,
    warm: async () => {
      await replay(models, syntheticSignal(1, warmUpSeconds));
    },
  };
}

type Context = { readonly models: Models; readonly limits: DecodeLimits; readonly chunking: Chunking };

async function analyze(
  request: AnalyzeRequest,
  context: Context,
  { onChunk, maxSeconds }: { readonly onChunk: OnChunk; readonly maxSeconds: number | null },
): Promise<Analyses | null> {
  const { models, chunking } = context;
  const timer = startStageTimer(request.cancel, request.yieldToOthers);
  const { sampleRate } = models.features;
  if (request.speakers !== null && models.voice === null) throw noVoices();
  const limits = { ...context.limits, ...request.limits };
  const own = { ...context, limits };
  const opened = open('audio', request.audio, request, own, timer);
  const hashes = hashSamples(opened, request, models.platform);
  const { decoders } = hashes;
  const detectors = decoders.map((decoder) => detectChunks(decoder, models, chunking, timer));
  const spans = request.segments && soloSpans(request.segments, sampleRate / models.features.hopLength);
  const results = (spans ?? decoders).map((): ChunkResult[] => []);
  const [decoder, firstResults] = [decoders[0] as IncrementalDecoder, results[0] as ChunkResult[]];
  let baselines: readonly Baseline[] = [];
  let baselineSeconds = 0;

  /** @throws EngineError when audio and baselines together are longer than the limit */
  function checkTogether(audioSeconds: number): void {
    if (baselineSeconds === 0 || audioSeconds + baselineSeconds <= limits.seconds) return;
    const expected = `at most ${limits.seconds} s for \`audio\` and \`baseline\` together`;
    throw new EngineError('too_long', 'baseline', `Expected ${expected}, got more`);
  }

  /** The samples of a chunk are freed before it returns. Returns whether chunks follow, or null above `maxSeconds`. */
  async function analyzeNext(): Promise<boolean | null> {
    const chunks = await nextOf(detectors);
    const [{ speech, isLast }] = chunks;
    const samples = sum(firstResults, (result) => result.samples) + speech.audio.samples.length;
    const seconds = samples / sampleRate;
    const declared = decoder.declaredSeconds();
    const duration = isLast ? seconds : declared && Math.max(seconds, declared);
    if (maxSeconds !== null && (duration ?? seconds) > maxSeconds) {
      release(chunks, models.platform);
      return null;
    }
    const onBaseline = (added: number) => {
      baselineSeconds += added;
      checkTogether(seconds);
    };
    if (firstResults.length === 0) baselines = await describeBaselines(request, own, onBaseline, timer);
    checkTogether(seconds);
    if (isLast) checkStarts(request.segments ?? [], seconds);
    const offset = sum(firstResults, ({ frames }) => frames);
    const voices = spans?.map((own) => restrictToSpeaker(chunks[0], own, offset)) ?? chunks;
    for (const [index, voice] of voices.entries()) {
      const own = results[index] as ChunkResult[];
      own.push(await analyzeChunk(voice, request, own.at(-1), models, timer));
    }
    release(chunks, models.platform);
    await onChunk(seconds, duration);
    return !isLast;
  }

  try {
    for (let more: boolean | null = true; more; ) {
      more = await analyzeNext();
      if (more === null) return null;
    }
    const averaged = request.channel === null && request.channels === null;
    const trackChosen = request.track !== null;
    const recording = { source: decoder.source() as Source, averaged, trackChosen, baselines };
    const { speakers: mode } = request;
    const speakers = mode === null ? results : await separateSpeakers(firstResults, mode, models, timer);
    const segments = speakers.map((chunks) => spanOf(chunks, models).segments);
    const shared = spans !== null || mode !== null;
    const unassigned = shared
      ? subtract(shiftToRecording(firstResults, allSegmentsOf), union(segments.flat()))
      : [];
    const digests = hashes.digests();
    const [first, ...others] = speakers.map((chunks, index) => ({
      ...aggregate(
        chunks,
        {
          ...recording,
          others: othersOf([...segments, unassigned], index),
          unassigned,
        },
        request.signals,
        models,
        timer,
      ),
      samplesSha256: digests[shared ? 0 : index] ?? null,
    }));
    return [first as Analysis, ...others];
  } finally {
    decoder.close();
  }
}

/** @param segments of each channel or speaker @returns those of all but one; undefined when there are no others */
function othersOf(segments: readonly (readonly Segment[])[], index: number): Segment[] | undefined {
  const others = union(segments.filter((_, at) => at !== index).flat());
  return others.length === 0 ? undefined : others;
}

/** @throws EngineError for a segment that starts after the end of the recording, whose length is `seconds` */
function checkStarts(segments: readonly SpeakerSegment[], seconds: number): void {
  const last = segments.at(-1);
  if (last === undefined || last.start < seconds) return;
  const end = Math.max(...segments.map((segment) => segment.end)) / 1000;
  const isMilliseconds = end > seconds / 20 && end < seconds + 1;
  const hint = isMilliseconds ? ': these are most likely milliseconds' : '';
  const expected = `seconds within the ${seconds.toFixed(1)} s of the recording`;
  throw new EngineError(
    'segments',
    'segments',
    `Expected ${expected} for \`segments\`, got a start at ${last.start} s${hint}`,
  );
}

const allSegmentsOf = ({ allSegments }: ChunkResult) => allSegments;

function noVoices(): EngineError {
  const message =
    'Expected models that compare voices for `speakers`, got others: use models/standard, large or fast';
  return new EngineError('speakers', 'speakers', message);
}

/** @returns decoders whose samples are hashed if the request wants it */
function hashSamples(
  decoders: readonly IncrementalDecoder[],
  request: AnalyzeRequest,
  { createSha256 }: Platform,
) {
  if (!request.hashSamples) return { decoders, digests: () => [] };
  const hashes = decoders.map(() => createSha256());
  const next = (decoder: IncrementalDecoder, hash: Hash) => {
    const samples = decoder.next();
    hash.update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    return samples;
  };
  return {
    decoders: decoders.map((decoder, index) => ({
      ...decoder,
      next: () => next(decoder, hashes[index] as Hash),
    })),
    /** Once all samples are read. */
    digests: () => hashes.map((hash) => hash.digest()),
  };
}

/** Frees samples and features. */
function release(chunks: readonly Pick<SpeechChunk, 'speech'>[], platform: Platform): void {
  for (const { speech } of chunks) {
    platform.release(speech.audio.samples);
    platform.release(speech.features.data);
  }
}

type DetectedChunk = SpeechChunk & { readonly isLast: boolean };

/** The next chunk of every channel: channels have equally many. */
async function nextOf(
  detectors: readonly ChunkDetector[],
): Promise<readonly [DetectedChunk, ...DetectedChunk[]]> {
  const chunks: DetectedChunk[] = [];
  for (const next of detectors) chunks.push((await next()) as DetectedChunk);
  const [first, ...others] = chunks;
  return [first as DetectedChunk, ...others];
}

function open(
  part: UploadPart,
  bytes: Uint8Array,
  selection: Pick<AnalyzeRequest, 'cancel' | 'channel' | 'track' | 'channels' | 'declared'>,
  { models, limits, chunking }: Context,
  timer: StageTimer,
): readonly IncrementalDecoder[] {
  const { sampleRate } = models.features;
  const { cancel, channel, track, channels, declared } = selection;
  const options = { sampleRate, channel, track, channels, declared, limits, cancel };
  return openDecoders(part, bytes, options, chunking, models.platform, timer);
}

/** Empty when no requested signal uses them. @throws EngineError at the part `baseline` */
async function describeBaselines(
  request: AnalyzeRequest,
  context: Context,
  onSeconds: (added: number) => void,
  timer: StageTimer,
): Promise<Baseline[]> {
  const baselines: Baseline[] = [];
  const using = available(context.models).filter(
    (signal) =>
      request.signals.includes(signal) &&
      definitions[signal].usesBaseline(context.models[signal].manifest.params),
  );
  if (using.length === 0) return baselines;
  const signals = using.filter((signal) => definitions[signal].score !== undefined);
  const measured = using.some((signal) => definitions[signal].infer !== undefined);
  const { cancel, channel, track } = request;
  const options = { cancel, channel, track, signals, measured };
  for (const bytes of request.baselines)
    baselines.push(await describeBaseline(bytes, options, context, onSeconds, timer));
  return baselines;
}

/** Of the track and channel of the recording; a baseline that lacks one is read as without that choice. */
async function describeBaseline(
  bytes: Uint8Array,
  options: SpeakerOptions,
  context: Context,
  onSeconds: (added: number) => void,
  timer: StageTimer,
): Promise<Baseline> {
  const seconds = Math.min(context.limits.seconds, longSeconds);
  const limits = { ...context.limits, seconds };
  const own = { ...context, limits };
  const describe = (chosen: SpeakerOptions): ReturnType<typeof describeSpeaker> =>
    describeSpeaker('baseline', bytes, chosen, own, timer, onSeconds).catch((error: unknown) => {
      const lacks = error instanceof EngineError && error.code;
      if (lacks === 'channel' || lacks === 'track') return describe({ ...chosen, [lacks]: null });
      throw error;
    });
  const baseline = await describe(options);
  const { minTotalSpeechSeconds } = context.models.vad.manifest.params;
  if (baseline.speechSeconds < minTotalSpeechSeconds) {
    const { track, tracks } = baseline.source;
    const others = tracks > 1 ? ` in track ${track} of ${tracks}: choose one with \`track\`` : '';
    const got = `${baseline.speechSeconds.toFixed(2)} s${others}`;
    const msg = `Expected at least ${minTotalSpeechSeconds} s of speech for \`baseline\`, got ${got}`;
    throw new EngineError('insufficient_speech', 'baseline', msg);
  }
  return baseline;
}

type SpeakerOptions = Pick<AnalyzeRequest, 'cancel' | 'channel' | 'track'> & {
  /** Those whose heads read the utterances: without any the trunk does not run. */
  readonly signals: readonly Signal[];
  /** Whether pitch, level and timing are measured: there are no chunks otherwise. */
  readonly measured: boolean;
};

/**
 * Decodes a recording and collects what signals need to compare its speaker.
 * @param onSeconds called with the seconds of each chunk before it is analysed
 */
export async function describeSpeaker(
  part: UploadPart,
  bytes: Uint8Array,
  { signals, measured, ...options }: SpeakerOptions,
  context: Context,
  timer: StageTimer,
  onSeconds: (added: number) => void = () => {},
): Promise<Baseline & { readonly source: Source }> {
  const { models, chunking } = context;
  const all = { ...options, channels: null };
  const request = { signals, embeddings: false, voices: null };
  const [decoder] = open(part, bytes, all, context, timer) as readonly [IncrementalDecoder];
  const chunks: SpeakerChunk[] = [];
  const results: ScoredChunk[] = [];
  try {
    const next = detectChunks(decoder, models, chunking, timer);
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      const { speech } = chunk;
      const { audio } = speech;
      onSeconds(audio.samples.length / audio.sampleRate);
      const track = measured ? models.platform.trackProsody(audio.samples, audio.sampleRate) : null;
      results.push(await scoreChunk(chunk, signals.length > 0, results.at(-1), request, models, timer));
      if (track !== null) chunks.push(describeChunk(speech, await track));
      release([chunk], models.platform);
      await timer.yieldToOthers();
    }
  } finally {
    decoder.close();
  }
  timer.mark('measures');
  const source = decoder.source() as Source;
  return { chunks, utterances: utterancesOf(results), ...spanOf(results, models), source };
}
