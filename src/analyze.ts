/** The pipeline in one screen: bytes -> samples -> features -> activity -> windows -> scores -> signals. */
import type { Analysis, AnalyzeRequest, CognitiveResult, EmotionResult, Signal } from './analysis.ts';
import { type Audio, type DecodeLimits, measure } from './audio.ts';
import { Failure } from './errors.ts';
import { describeSpeaker, hear, measureBaseline, minSpeechSeconds, segmentSeconds } from './hear.ts';
import { analyzePieces, type Progress, wholeSeconds } from './long.ts';
import { replay, syntheticSignal } from './models/golden.ts';
import { loadModels, type Models } from './models/registry.ts';
import { clarityRows, cognitiveResult, emotionResult, emotionRows, encode } from './score.ts';
import { warnOfRecording } from './signals/warnings.ts';
import { startWatch } from './watch.ts';

export type Analyzer = {
  analyze(request: AnalyzeRequest): Promise<Analysis>;
  /** The same up to 15 minutes; what is longer is analysed in pieces. */
  analyzeLong(request: AnalyzeRequest, progress: Progress): Promise<Analysis>;
  /** Runs every model once: the first run of a session costs more than the later ones. */
  warm(): Promise<void>;
};

const warmUpSeconds = 2;

/** Loads every model of `modelsDir` for the calling thread. One analysis at a time a thread. */
export async function createAnalyzer(options: {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
}): Promise<Analyzer> {
  return analyzerOf(await loadModels(options.modelsDir), options.limits);
}

export function analyzerOf(models: Models, limits: DecodeLimits): Analyzer {
  return {
    analyze: (request) => analyze(request, models, limits),
    analyzeLong: (request, progress) => analyzeLong(request, models, limits, progress),
    warm: async () => {
      await replay(models, syntheticSignal(1, warmUpSeconds));
    },
  };
}

async function analyzeLong(
  request: AnalyzeRequest,
  models: Models,
  limits: DecodeLimits,
  progress: Progress,
): Promise<Analysis> {
  const seconds = Math.min(limits.seconds, wholeSeconds);
  try {
    return await analyze(request, models, { ...limits, seconds });
  } catch (error) {
    if (seconds === limits.seconds || !isTooLong(error)) throw error;
  }
  return analyzePieces(request, models, limits, progress);
}

function isTooLong(error: unknown): boolean {
  const item = error instanceof Failure ? error.items[0] : undefined;
  return item?.type === 'value_error.audio.too_long' && item.loc[1] === 'audio';
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
  const spoken = heard.speechSeconds >= minSpeechSeconds;
  const warnings = warnOfRecording(
    heard.audio.source,
    spoken ? { ...quality, voice: heard.voice } : null,
    spoken ? quality.levelDbfs : levelOf(heard.audio),
    models.activity.manifest.rule.minVoice,
  );
  watch.mark('quality');
  const pooled = spoken ? await encode(heard, models, watch) : [];
  const conditions = {
    ...quality,
    speechSeconds: heard.speechSeconds,
    clippedRatio: heard.audio.source.clippedRatio,
  };
  const enough = pooled.length > 0;
  const span = { ...heard, windows: pooled.map(({ window }) => window) };
  let emotion: EmotionResult | null = null;
  let cognitive: CognitiveResult | null = null;
  if (enough && wanted('emotion')) {
    emotion = emotionResult(span, await emotionRows(pooled, models), models, conditions);
    watch.mark('emotion');
  }
  if (enough && wanted('cognitive')) {
    const rows = await clarityRows(pooled, models);
    watch.mark('cognitive');
    const measured = describeSpeaker(heard, watch);
    cognitive = cognitiveResult(span, rows, models, conditions, { measured, baseline });
  }
  return {
    audio: {
      seconds: heard.audio.seconds,
      speechSeconds: heard.speechSeconds,
      source: heard.audio.source,
      ...quality,
    },
    emotion,
    cognitive,
    insufficientSpeech: !enough,
    warnings,
    models: { emotion: models.emotion.manifest, cognitive: models.cognitive.manifest },
    stages: watch.stages,
  };
}

/** RMS of the whole recording. */
function levelOf({ samples, sampleRate, seconds }: Audio): number {
  return measure(samples, sampleRate, Float64Array.of(0, seconds)).levelDbfs;
}
