/** Where in a recording a live session decides its provisional messages, and the time of each stage of its steps. */

import type { LiveResult, LiveState } from '../../src/engine/live.ts';
import type { Stage } from '../../src/engine/timer.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';
import { createRecording, createSchedule } from '../../src/service/live/tasks.ts';

/** A provisional message, and the sample that decides it. */
export type Decision = { readonly type: string; readonly seconds: number };
export type SpeechFormat = { readonly sampleRate: number; readonly channels: number };
export type StepStages = { readonly kind: string; readonly stages: readonly Stage[] };

const signals = ['emotion', 'cognitive'] as const;

/** @param samples 16-bit, without a header */
export async function decide(
  samples: Uint8Array,
  { sampleRate, channels }: SpeechFormat,
  intervalSeconds: number,
) {
  const analyzer = await createAnalyzer(parseConfig({}));
  await analyzer.warm();
  const format = { encoding: 's16le', sampleRate, channels } as const;
  const recording = createRecording(format);
  recording.append(samples);
  const schedule = createSchedule({ sample_rate_hz: sampleRate, interval_s: intervalSeconds });
  const decisions: Decision[] = [];
  const steps: StepStages[] = [];
  let state: LiveState | null = null;
  for (const { start, end, ...step } of schedule.advance(recording.frames())) {
    const bytes = recording.slice(start, end);
    const request = { ...step, format, bytes, state, signals, split: false, cancel: null };
    const { messages, stages, ...after }: LiveResult = await analyzer.live(request);
    state = after.state;
    decisions.push(...messages.map(({ type }) => ({ type, seconds: end / sampleRate })));
    steps.push({ kind: describeStep(messages), stages });
  }
  return { decisions, steps };
}

function describeStep(messages: readonly { readonly type: string }[]): string {
  const has = (wanted: string) => messages.some(({ type }) => type === wanted);
  if (has('measurement')) return has('turn') ? 'a measurement and an utterance' : 'a measurement';
  return has('turn') ? 'an utterance' : 'speech activity alone';
}
