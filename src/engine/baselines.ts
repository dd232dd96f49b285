/** Recordings of the same speaker at rest -> what signals compare a recording with. */

import { spanOf, utterancesOf } from './aggregate.ts';
import { type ScoredChunk, scoreChunk } from './analyze-chunk.ts';
import { type Context, detectChunks, openDecoders, release, type UploadPart } from './chunks.ts';
import type { Execution } from './execution.ts';
import { available } from './loader.ts';
import { type AnalyzeOptions, longSeconds } from './options.ts';
import { type DecodeOptions, EngineError, type IncrementalDecoder, type Source } from './platform.ts';
import type { Baseline } from './signals/definition.ts';
import { describeChunk, type SpeakerChunk } from './signals/speaker.ts';
import { definitions, type Signal } from './signals/table.ts';

type Selection = Pick<AnalyzeOptions, 'channel' | 'track'> & Pick<DecodeOptions, 'cancel'>;

type BaselineRequest = Selection & {
  readonly baselines: readonly Uint8Array[];
  readonly signals: readonly Signal[];
};

/** Empty when no requested signal uses them. @throws EngineError at the part `baseline` */
export async function describeBaselines(
  request: BaselineRequest,
  context: Context,
  onSeconds: (added: number) => void,
  execution: Execution,
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
    baselines.push(await describeBaseline(bytes, options, context, onSeconds, execution));
  return baselines;
}

/** Of the track and channel of the recording; a baseline that lacks one is read as without that choice. */
async function describeBaseline(
  bytes: Uint8Array,
  options: SpeakerOptions,
  context: Context,
  onSeconds: (added: number) => void,
  execution: Execution,
): Promise<Baseline> {
  const seconds = Math.min(context.limits.seconds, longSeconds);
  const limits = { ...context.limits, seconds };
  const limited = { ...context, limits };
  const describe = (chosen: SpeakerOptions): ReturnType<typeof describeSpeaker> =>
    describeSpeaker('baseline', bytes, chosen, limited, execution, onSeconds).catch((error: unknown) => {
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

type SpeakerOptions = Selection & {
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
  execution: Execution,
  onSeconds: (added: number) => void = () => {},
): Promise<Baseline & { readonly source: Source }> {
  const { models } = context;
  const all = { ...options, channels: null };
  const request = { signals, embeddings: false, voices: null };
  const [decoder] = openDecoders(part, bytes, all, context) as readonly [IncrementalDecoder];
  const chunks: SpeakerChunk[] = [];
  const results: ScoredChunk[] = [];
  try {
    const next = detectChunks(decoder, context, execution);
    for (let chunk = await next(); chunk !== null; chunk = await next()) {
      const { speech } = chunk;
      const { audio } = speech;
      onSeconds(audio.samples.length / audio.sampleRate);
      const track = measured ? models.platform.trackProsody(audio.samples, audio.sampleRate) : null;
      results.push(await scoreChunk(chunk, signals.length > 0, results.at(-1), request, models, execution));
      if (track !== null) chunks.push(describeChunk(speech, await track));
      release(chunk, models.platform);
      await execution.yieldToOthers();
    }
  } finally {
    decoder.close();
  }
  execution.endStage('measures');
  const source = decoder.source() as Source;
  return { chunks, utterances: utterancesOf(results), ...spanOf(results, models), source };
}
