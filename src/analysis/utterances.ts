/** Cuts speech into utterances, and collects their embeddings from those of windows. */

import type { EncodedWindow } from './encode.ts';
import { joinArrays } from './join-arrays.ts';
import type { Segment } from './segments.ts';
import type { SpeechAnalysis } from './speech.ts';

const minSeconds = 0.5;
export const maxSeconds = 10;
/** A cut of long speech is the middle of the span of this length with the least speech. */
const dipSeconds = 0.1;

/**
 * Speech between pauses, in frames. Speech over 10 s is cut where the speech probability is lowest, 5 to 10 s after its
 * start. Speech under 0.5 s is no utterance.
 */
export function cutUtterances({
  segments,
  speechProbability,
  framesPerSecond,
}: Pick<SpeechAnalysis, 'segments' | 'speechProbability' | 'framesPerSecond'>): Segment[] {
  const minFrames = minSeconds * framesPerSecond;
  const maxFrames = maxSeconds * framesPerSecond;
  const dipFrames = dipSeconds * framesPerSecond;
  return segments.flatMap((segment) => {
    const utterances: Segment[] = [];
    let { start } = segment;
    while (segment.end - start > maxFrames) {
      const last = Math.min(start + maxFrames, segment.end - minFrames);
      const end = findDip(speechProbability, { start: start + maxFrames / 2, end: last }, dipFrames);
      utterances.push({ start, end });
      start = end;
    }
    return segment.end - start < minFrames ? utterances : [...utterances, { start, end: segment.end }];
  });
}

/** Middle of the `length` frames with the least sum of `speech`, inside `within`. */
function findDip(speech: Float32Array, within: Segment, length: number): number {
  let sum = 0;
  let least = Number.POSITIVE_INFINITY;
  let best = within.end;
  for (let frame = within.start; frame < within.end; frame++) {
    sum += speech[frame] as number;
    if (frame - within.start >= length) sum -= speech[frame - length] as number;
    if (frame - within.start >= length - 1 && sum < least) {
      least = sum;
      best = frame + 1 - Math.floor(length / 2);
    }
  }
  return best;
}

export type SpanCollector = {
  /** Returns the spans that end in or before the window. Windows come in order. */
  add(window: EncodedWindow): EncodedWindow[];
  /** Returns the other spans, after the last window. */
  rest(): EncodedWindow[];
};

type Part = { readonly embeddings: Float32Array; readonly weights: Float32Array };

/**
 * The embeddings whose middle lies inside each span. A span is returned once, in the given order; one without embeddings is
 * left out.
 */
export function collectSpans(spans: readonly Segment[], framesPerEmbedding: number): SpanCollector {
  let open = spans.map((span) => ({ span, parts: [] as Part[] }));
  const release = (count: number) => {
    const ended = open.slice(0, count);
    open = open.slice(count);
    return ended.flatMap(({ span, parts }) => joinParts(span, parts));
  };
  return {
    add(window) {
      for (const { span, parts } of open) parts.push(...slice(window, span, framesPerEmbedding));
      const later = open.findIndex(({ span }) => span.end > window.window.end);
      return release(later === -1 ? open.length : later);
    },
    rest: () => release(open.length),
  };
}

function joinParts(span: Segment, parts: readonly Part[]): EncodedWindow[] {
  const weights = joinArrays(parts.map((part) => part.weights));
  if (weights.length === 0) return [];
  const embeddings = joinArrays(parts.map((part) => part.embeddings));
  return [
    {
      window: { ...span, speechFrames: span.end - span.start },
      firstFrame: span.start,
      embeddings: { data: embeddings, shape: [1, weights.length, embeddings.length / weights.length] },
      weights: { data: weights, shape: [1, weights.length] },
    },
  ];
}

function slice(
  { firstFrame, embeddings, weights }: EncodedWindow,
  { start, end }: Segment,
  framesPerEmbedding: number,
): Part[] {
  const count = weights.data.length;
  const width = embeddings.data.length / count;
  const indexOf = (frame: number) =>
    Math.min(count, Math.max(0, Math.ceil((frame - firstFrame) / framesPerEmbedding - 0.5)));
  const [from, to] = [indexOf(start), indexOf(end)];
  if (from === to) return [];
  return [
    {
      embeddings: embeddings.data.subarray(from * width, to * width),
      weights: weights.data.subarray(from, to),
    },
  ];
}
