/** Windows -> rows of every head. The embeddings of a window are kept until the spans in it have ended. */
import type { Models } from '../models/loader.ts';
import type { EncodedWindow } from './encode.ts';
import { poolEmbeddings } from './pooled-embeddings.ts';
import { definitions, type Signal } from './signals/table.ts';
import type { StageTimer } from './stage-timer.ts';
import type { SpanCollector } from './utterances.ts';
import { inferVoice, type Voice } from './voices.ts';
import type { Window } from './windows.ts';

export type HeadRequest = {
  readonly signals: readonly Signal[];
  /** Whether the windows are the entries of the timeline; otherwise the spans are. */
  readonly windowsOnly: boolean;
  /** Spans with at least this many frames have a voice. */
  readonly minVoiceFrames: number;
  readonly embeddings: boolean;
};

/** A window or a span. */
type Scored = {
  readonly window: Window;
  readonly rows: Partial<Record<Signal, unknown>>;
  /** Null when not requested. */
  readonly embedding: Float32Array | null;
};

export type HeadResults = {
  readonly windows: readonly Scored[];
  /** Entries of the timeline. */
  readonly timeline: readonly Scored[];
  readonly voices: readonly Voice[];
};

export async function runHeads(
  encoded: AsyncIterable<EncodedWindow> | readonly EncodedWindow[],
  spans: SpanCollector,
  { signals, windowsOnly, minVoiceFrames, embeddings }: HeadRequest,
  models: Models,
  timer: StageTimer,
): Promise<HeadResults> {
  const windows: Scored[] = [];
  const timeline: Scored[] = [];
  const voices: Voice[] = [];
  const score = async (one: EncodedWindow): Promise<Scored> => {
    const rows: Partial<Record<Signal, unknown>> = {};
    for (const signal of signals) {
      rows[signal] = await definitions[signal].inferRow?.(one, models[signal]);
      timer.mark(signal);
    }
    return { window: one.window, rows, embedding: embeddings ? poolEmbeddings(one) : null };
  };
  const addSpans = async (ended: readonly EncodedWindow[]) => {
    for (const span of ended) {
      if (!windowsOnly) timeline.push(await score(span));
      if (models.voice === null || span.window.speechFrames < minVoiceFrames) continue;
      voices.push(await inferVoice(span, models.voice));
      timer.mark('voices');
    }
  };
  for await (const window of encoded) {
    windows.push(await score(window));
    await addSpans(spans.add(window));
  }
  await addSpans(spans.rest());
  return { windows, timeline: windowsOnly ? windows : timeline, voices };
}
