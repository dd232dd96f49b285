/** Segments -> windows -> tokens -> the scores of each head, pooled over the recording. */
import type { CognitiveResult, EmotionResult } from './analysis.ts';
import { describeSpeaker, type Heard } from './hear.ts';
import type { Models } from './models/registry.ts';
import type { Values } from './models/session.ts';
import { cognitiveConfidence } from './signals/confidence.ts';
import { computeIndex } from './signals/indices.ts';
import { type Conditions, interval } from './signals/intervals.ts';
import { poolWindows } from './signals/pooling.ts';
import { seemsScripted } from './signals/scripted.ts';
import type { Segment } from './signals/segments.ts';
import { type Speaker, soundsLikeAnother } from './signals/speaker.ts';
import { cutWindows, type Window } from './signals/windows.ts';
import type { Watch } from './watch.ts';

const framesPerToken = 2;

/** What the trunk made of one window. */
export type Pooled = { readonly window: Window; readonly tokens: Values; readonly weights: Values };

/** One trunk pass a window; the heads share its tokens. */
export async function encode(heard: Heard, models: Models, watch: Watch): Promise<Pooled[]> {
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
  for (let token = 0; token < count; token++) {
    const from = window.start + token * framesPerToken;
    const to = Math.min(window.end, from + framesPerToken);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] as number;
    weights[token] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}

export async function scoreEmotion(
  heard: Heard,
  pooled: readonly Pooled[],
  models: Models,
  conditions: Conditions,
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
  watch.mark('emotion');
  return {
    ...pool,
    labels,
    intervals: {
      valence: interval(pool.valence, rule.intervals.valence, conditions),
      arousal: interval(pool.arousal, rule.intervals.arousal, conditions),
    },
    timeline: pooled.map(({ window }, index) => ({
      ...inSeconds(window, heard),
      ...toScores(rows[index] as number[]),
    })),
    lowConfidence: Math.max(...pool.probabilities) < rule.lowConfidence,
    shortSpeech: heard.speechSeconds < rule.shortSpeechSeconds,
  };
}

export async function scoreCognitive(
  heard: Heard,
  pooled: readonly Pooled[],
  models: Models,
  conditions: Conditions,
  baseline: Speaker | null,
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
  const bounds = interval(clarity, rule.intervals.clarity, conditions);
  watch.mark('cognitive');
  const measured = describeSpeaker(heard, watch);
  const scripted = seemsScripted(measured, rule.scripted);
  return {
    clarity,
    intervals: { clarity: bounds },
    confidence: cognitiveConfidence(measured, rule, bounds, scripted),
    cognitiveLoad: computeIndex(measured, rule.cognitiveLoad, rule, baseline),
    processing: computeIndex(measured, rule.processing, rule, baseline),
    measures: measured.measures,
    timeline: pooled.map(({ window }, index) => ({
      ...inSeconds(window, heard),
      clarity: rows[index]?.[0] as number,
    })),
    relative: baseline !== null,
    otherSpeaker: baseline !== null && soundsLikeAnother(measured, baseline, rule.otherSpeaker),
    shortSpeech: heard.speechSeconds < rule.shortSpeechSeconds,
    scripted,
  };
}

function first(values: Values | undefined): number {
  return values?.data[0] as number;
}

function inSeconds({ start, end }: Segment, { framesPerSecond }: Heard): { start: number; end: number } {
  return { start: start / framesPerSecond, end: end / framesPerSecond };
}
