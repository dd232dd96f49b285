/** Segments -> windows -> tokens -> the scores of each head, pooled over the recording. */
import type { CognitiveResult, EmotionResult } from './analysis.ts';
import type { Features } from './audio.ts';
import type { Heard, Sounding } from './hear.ts';
import type { Models } from './models/registry.ts';
import type { Values } from './models/session.ts';
import { cognitiveConfidence } from './signals/confidence.ts';
import { computeIndex } from './signals/indices.ts';
import { type Conditions, interval } from './signals/intervals.ts';
import { poolWindows } from './signals/pooling.ts';
import { seemsScripted } from './signals/scripted.ts';
import type { Segment } from './signals/segments.ts';
import { type Speaker, soundsLikeAnother } from './signals/speaker.ts';
import { cutWindows, unbounded, type Window } from './signals/windows.ts';
import type { Watch } from './watch.ts';

/** What the trunk made of one window; `window` is as much of it as lies inside the recording. */
export type Pooled = { readonly window: Window; readonly tokens: Values; readonly weights: Values };

/** One trunk pass a window; the heads share its tokens. Beyond its ends the recording is silent, up to the bounds. */
export async function encode(
  heard: Heard<Sounding>,
  models: Models,
  watch: Watch,
  bounds: Segment = unbounded,
): Promise<Pooled[]> {
  const { windowSeconds, framesPerToken } = models.trunk.manifest.rule;
  const { bins, frames } = heard.features;
  const pooled: Pooled[] = [];
  for (const window of cutWindows(heard.segments, frames, heard.framesPerSecond, windowSeconds, bounds)) {
    const inside = { ...window, start: Math.max(0, window.start), end: Math.min(frames, window.end) };
    const outputs = await models.trunk.session.run({
      features: {
        data: framesOf(heard.features, window, models.silence),
        shape: [1, window.end - window.start, bins],
      },
    });
    const tokens = outputs.tokens as Values;
    const weights = tokenWeights(heard.speech, window, framesPerToken);
    pooled.push({ window: inside, tokens, weights });
    watch.check();
  }
  watch.mark('trunk');
  return pooled;
}

/** The rows of a window; a view of those of the recording, unless some are missing. */
function framesOf(
  { data, frames, bins }: Features,
  { start, end }: Segment,
  silence: Float32Array,
): Float32Array {
  const inside = data.subarray(Math.max(0, start) * bins, Math.min(frames, end) * bins);
  if (inside.length === (end - start) * bins) return inside;
  const rows = new Float32Array((end - start) * bins);
  const before = Math.max(0, -start) * bins;
  const after = before + inside.length;
  for (let at = 0; at < before; at += bins) rows.set(silence, at);
  rows.set(inside, before);
  for (let at = after; at < rows.length; at += bins) rows.set(silence, at);
  return rows;
}

/** Speech probability of each token: the mean over its frames, 0 beyond the recording. */
function tokenWeights(speech: Float32Array, window: Window, framesPerToken: number): Values {
  const count = Math.ceil((window.end - window.start) / framesPerToken);
  const weights = new Float32Array(count);
  for (let token = 0; token < count; token++) {
    const from = window.start + token * framesPerToken;
    const to = Math.min(window.end, from + framesPerToken);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] ?? 0;
    weights[token] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}

/** Where the windows of a recording lie, and how much of it is speech. */
export type Span = {
  readonly windows: readonly Window[];
  readonly framesPerSecond: number;
  readonly speechSeconds: number;
};

/** Of each window: valence, arousal, and the probability of each label. */
export async function emotionRows(pooled: readonly Pooled[], { emotion }: Models): Promise<number[][]> {
  const rows: number[][] = [];
  for (const { tokens, weights } of pooled) {
    const { probabilities, valence, arousal } = await emotion.session.run({ tokens, weights });
    rows.push([first(valence), first(arousal), ...(probabilities as Values).data]);
  }
  return rows;
}

export function emotionResult(
  span: Span,
  rows: readonly (readonly number[])[],
  { emotion }: Models,
  conditions: Conditions,
): EmotionResult {
  const { labels, rule } = emotion.manifest;
  const toScores = (row: readonly number[]) => ({
    valence: row[0] as number,
    arousal: row[1] as number,
    probabilities: row.slice(2),
  });
  const pool = toScores(poolWindows(rows, speechOf(span)));
  return {
    ...pool,
    labels,
    intervals: {
      valence: interval(pool.valence, rule.intervals.valence, conditions),
      arousal: interval(pool.arousal, rule.intervals.arousal, conditions),
    },
    timeline: span.windows.map((window, index) => ({
      ...inSeconds(window, span),
      ...toScores(rows[index] as number[]),
    })),
    lowConfidence: Math.max(...pool.probabilities) < rule.lowConfidence,
    shortSpeech: span.speechSeconds < rule.shortSpeechSeconds,
  };
}

/** Of each window: its clarity. */
export async function clarityRows(pooled: readonly Pooled[], { cognitive }: Models): Promise<number[][]> {
  const rows: number[][] = [];
  for (const { tokens, weights } of pooled) {
    rows.push([first((await cognitive.session.run({ tokens, weights })).clarity)]);
  }
  return rows;
}

export function cognitiveResult(
  span: Span,
  rows: readonly (readonly number[])[],
  { cognitive }: Models,
  conditions: Conditions,
  { measured, baseline }: { readonly measured: Speaker; readonly baseline: Speaker | null },
): CognitiveResult {
  const { rule } = cognitive.manifest;
  const clarity = poolWindows(rows, speechOf(span))[0] as number;
  const bounds = interval(clarity, rule.intervals.clarity, conditions);
  const scripted = seemsScripted(measured, rule.scripted);
  return {
    clarity,
    intervals: { clarity: bounds },
    confidence: cognitiveConfidence(measured, rule, bounds, scripted),
    cognitiveLoad: computeIndex(measured, rule.cognitiveLoad, rule, baseline),
    processing: computeIndex(measured, rule.processing, rule, baseline),
    measures: measured.measures,
    timeline: span.windows.map((window, index) => ({
      ...inSeconds(window, span),
      clarity: rows[index]?.[0] as number,
    })),
    relative: baseline !== null,
    otherSpeaker: baseline !== null && soundsLikeAnother(measured, baseline, rule.otherSpeaker),
    shortSpeech: span.speechSeconds < rule.shortSpeechSeconds,
    scripted,
  };
}

function first(values: Values | undefined): number {
  return values?.data[0] as number;
}

function speechOf({ windows }: Span): number[] {
  return windows.map(({ speechFrames }) => speechFrames);
}

function inSeconds({ start, end }: Segment, { framesPerSecond }: Span): { start: number; end: number } {
  return { start: start / framesPerSecond, end: end / framesPerSecond };
}
