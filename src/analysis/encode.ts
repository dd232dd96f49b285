/** Segments -> windows -> embeddings: one pass of the trunk per window, shared by all heads. */
import type { Features } from '../audio/addon.ts';
import type { Models } from '../models/loader.ts';
import type { Values } from '../models/session.ts';
import type { Segment } from './segments.ts';
import type { SpeechAnalysis } from './speech.ts';
import type { StageTimer } from './stage-timer.ts';
import { cutWindows, unbounded, type Window } from './windows.ts';

export type EncodedWindow = {
  /** The part of the window that lies inside the recording. */
  readonly window: Window;
  /** Frame of the recording where the first embedding starts; negative before its start. */
  readonly firstFrame: number;
  /** [1 x embeddings x dimensions]. */
  readonly embeddings: Values;
  /** Speech probability per embedding, [1 x embeddings]. */
  readonly weights: Values;
};

/** In order. Outside the recording, up to `bounds`, context is frames of digital silence. */
export async function* encode(
  speech: SpeechAnalysis,
  models: Models,
  timer: StageTimer,
  bounds: readonly Segment[] = [unbounded],
): AsyncGenerator<EncodedWindow> {
  const { params } = models.trunk.manifest;
  const { bins, frames } = speech.features;
  const windows = bounds.flatMap((span) => {
    const inside = speech.segments.filter(({ start, end }) => start < span.end && end > span.start);
    return cutWindows(inside, frames, speech.framesPerSecond, params, span);
  });
  for (const window of windows) {
    const outputs = await models.trunk.session.run({
      features: {
        data: framesOf(speech.features, window, models.silence),
        shape: [1, window.end - window.start, bins],
      },
    });
    timer.mark('trunk');
    yield {
      firstFrame: window.start,
      window: { ...window, start: Math.max(0, window.start), end: Math.min(frames, window.end) },
      embeddings: outputs.tokens as Values,
      weights: speechWeights(speech.speechProbability, window, params.framesPerToken),
    };
  }
}

/** The rows of a window: a view, or a padded copy if some are missing. */
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

/** Speech probability of each embedding: the mean over its frames, 0 outside the recording. */
function speechWeights(speech: Float32Array, window: Window, framesPerEmbedding: number): Values {
  const count = Math.ceil((window.end - window.start) / framesPerEmbedding);
  const weights = new Float32Array(count);
  for (let index = 0; index < count; index++) {
    const from = window.start + index * framesPerEmbedding;
    const to = Math.min(window.end, from + framesPerEmbedding);
    let sum = 0;
    for (let frame = from; frame < to; frame++) sum += speech[frame] ?? 0;
    weights[index] = sum / (to - from);
  }
  return { data: weights, shape: [1, count] };
}
