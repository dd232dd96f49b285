/** A chunk of a recording -> its result: quality, utterances with their scores, and what each signal measures. */

import type { SpeechChunk } from './chunks.ts';
import {
  isMode,
  type Scorable,
  type Scored,
  type ScoreRequest,
  scoreRuns,
  scoreUtterances,
  type Totals,
} from './embeddings.ts';
import type { Execution } from './execution.ts';
import type { Gap } from './gaps.ts';
import { available, type Models } from './loader.ts';
import type { SignalQuality } from './platform.ts';
import { createQualityMeter, type NoiseLevel, noNoise } from './quality.ts';
import { meanOver, type Segment } from './segments.ts';
import { stepOf } from './several-speakers.ts';
import { definitions, type Signal } from './signals/table.ts';
import { segmentSeconds } from './speech.ts';
import { cutUtterances, type Utterance } from './utterances.ts';
import { type ChunkVoice, type SpeakerMode, separateVoices, type VoicePart } from './voices.ts';

/** Mergeable result of a chunk, without its samples and features. Positions are frames of the chunk. */
export type ChunkResult = {
  readonly samples: number;
  readonly frames: number;
  readonly speechSeconds: number;
  readonly segments: readonly Segment[];
  /** Of all speakers. */
  readonly allSegments: readonly Segment[];
  readonly gaps: readonly Gap[];
  readonly utterances: readonly Scored[];
  /** Empty unless speakers are separated. */
  readonly voices: readonly ChunkVoice[];
  /** Of the utterances of each of these. */
  readonly voiceTotals: readonly Totals[];
  /** Of windows of the utterances; empty when speakers are separated. */
  readonly windowVoices: readonly ChunkVoice[];
  /** All runs of a chunk without an utterance, scored as one; null without speech. */
  readonly runs: { readonly scored: Scored; readonly totals: Totals } | null;
  /** Of all utterances up to the end of the chunk. */
  readonly totals: Totals;
  readonly noise: NoiseLevel;
  readonly voiceLogOdds: number;
  readonly quality: SignalQuality;
  /** Whether gaps left no noise in the pauses: `snrDb` is of the quietest speech. */
  readonly lacksNoise: boolean;
  /** RMS of all samples; of the speech alone in a chunk with at least `minTotalSpeechSeconds` of it. */
  readonly levelDbfs: number;
  readonly signals: Partial<Record<Signal, unknown>>;
};

type ChunkRequest = {
  readonly signals: readonly Signal[];
  readonly embeddings?: boolean;
  readonly speakers: SpeakerMode | null;
};

/** @param previous the chunk before */
export async function analyzeChunk(
  chunk: SpeechChunk,
  { signals: wanted, embeddings = false, speakers }: ChunkRequest,
  previous: ChunkResult | undefined,
  models: Models,
  execution: Execution,
): Promise<ChunkResult> {
  const { speech, allSegments, isWhole } = chunk;
  const { audio, segments, speechSeconds } = speech;
  const { samples, sampleRate } = audio;
  const { measureQuality } = models.platform;
  const quality = measureQuality(samples, sampleRate, segmentSeconds({ ...speech, segments: allSegments }));
  const hasSpeech = speechSeconds >= models.vad.manifest.params.minTotalSpeechSeconds;
  const all = Float64Array.of(0, samples.length / sampleRate);
  const { levelDbfs } = hasSpeech ? quality : measureQuality(samples, sampleRate, all);
  execution.endStage('quality');
  // A chunk of a longer recording always has results: the recording may have enough speech in total.
  const isUsable = hasSpeech || !isWhole;
  const chosen = isUsable ? available(models).filter((signal) => wanted.includes(signal)) : [];
  const started = chosen.map((signal) => ({
    signal,
    prepared: definitions[signal].prepare?.(speech, models.platform),
  }));
  const request: ScoreRequest = { signals: chosen, embeddings, voices: speakers ?? 'compare' };
  const scored = await scoreChunk(chunk, isUsable, previous, request, models, execution);
  const results: Partial<Record<Signal, unknown>> = {};
  for (const { signal, prepared } of started) {
    if (definitions[signal].infer === undefined) continue;
    results[signal] = await definitions[signal].infer({ speech, prepared }, models[signal]);
    execution.endStage('measures');
  }
  return {
    samples: samples.length,
    speechSeconds,
    allSegments,
    ...scored,
    voiceLogOdds: meanOver(segments, speech.voiceLogOdds),
    quality,
    lacksNoise: chunk.lacksNoise,
    levelDbfs,
    signals: results,
  };
}

export type ScoredChunk = Pick<
  ChunkResult,
  | 'frames'
  | 'segments'
  | 'gaps'
  | 'utterances'
  | 'voices'
  | 'voiceTotals'
  | 'windowVoices'
  | 'runs'
  | 'totals'
  | 'noise'
>;

/** @param isUsable whether it is scored */
export async function scoreChunk(
  { speech, allSegments, gaps, bounds, previousEnd, isWhole }: SpeechChunk,
  isUsable: boolean,
  previous: ScoredChunk | undefined,
  request: ScoreRequest,
  models: Models,
  execution: Execution,
): Promise<ScoredChunk> {
  const meter = createQualityMeter(
    { ...speech, segments: allSegments },
    previous?.noise ?? noNoise,
    models.features,
  );
  const cut = cutUtterances(speech, models.trunk.manifest.params, bounds, previousEnd);
  const totals = previous?.totals ?? {};
  const isScored = isUsable && cut.length > 0;
  const { voices: mode } = request;
  // In one chunk of a longer recording a single voice may speak.
  const separated =
    isScored && isMode(mode)
      ? await separateVoices(cut, isWhole ? mode : 'auto', speech, models, execution)
      : null;
  // Other chunks may show that all of its parts are of one voice.
  const isKept = mode === 'auto' && !isWhole;
  const spoken = separated === null ? cut : isKept ? withParts(cut, separated.parts) : separated.parts.flat();
  const { severalSpeakers } = models.trunk.manifest.params;
  const windowStep =
    mode === 'compare' && severalSpeakers !== undefined
      ? stepOf(cut, isWhole, severalSpeakers, speech.framesPerSecond)
      : null;
  const context = { speech, meter, totals, windowStep };
  const scored = isScored
    ? await scoreUtterances(spoken, context, request, models, execution)
    : { scored: [], totals, voiceTotals: [], windowVoices: [] };
  const runs = isUsable && !isScored ? await scoreRuns(context, request, models, execution) : null;
  const { segments, power } = speech;
  const noise = meter.noise();
  const { scored: utterances, ...sums } = scored;
  const voices = separated?.voices ?? [];
  return { frames: power.length, segments, gaps, utterances, voices, runs, ...sums, noise };
}

function withParts(utterances: readonly Utterance[], parts: readonly (readonly VoicePart[])[]): Scorable[] {
  return utterances.map((utterance, index) => {
    const [first, ...others] = parts[index] as readonly [VoicePart, ...VoicePart[]];
    return others.length === 0 ? first : { ...utterance, parts: [first, ...others] };
  });
}
