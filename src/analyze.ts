/** The pipeline in one screen: bytes -> samples -> features -> activity -> windows -> scores -> signals. */
import type { Analysis, AnalyzeRequest, Signal } from './analysis.ts';
import { type Audio, type DecodeLimits, measure } from './audio.ts';
import { hear, measureBaseline, minSpeechSeconds, segmentSeconds } from './hear.ts';
import { replay, syntheticSignal } from './models/golden.ts';
import { loadModels, type Models } from './models/registry.ts';
import { encode, scoreCognitive, scoreEmotion } from './score.ts';
import { warnOfRecording } from './signals/warnings.ts';
import { startWatch } from './watch.ts';

export type Analyzer = {
  analyze(request: AnalyzeRequest): Promise<Analysis>;
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
    warm: async () => {
      await replay(models, syntheticSignal(1, warmUpSeconds));
    },
  };
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
  return {
    audio: {
      seconds: heard.audio.seconds,
      speechSeconds: heard.speechSeconds,
      source: heard.audio.source,
      ...quality,
    },
    emotion:
      enough && wanted('emotion') ? await scoreEmotion(heard, pooled, models, conditions, watch) : null,
    cognitive:
      enough && wanted('cognitive')
        ? await scoreCognitive(heard, pooled, models, conditions, baseline, watch)
        : null,
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
