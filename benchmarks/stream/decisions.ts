/** Where in a recording a live session decides its provisional messages, and the time of each stage of its steps. */
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { initialState } from '../../src/analysis/live-turns.ts';
import type { Stage } from '../../src/analysis/stage-timer.ts';
import { parseConfig } from '../../src/runtime/config.ts';
import { createRecording } from '../../src/stream/recording.ts';
import { createSchedule } from '../../src/stream/schedule.ts';

/** A provisional message, and the sample that decides it. */
export type Decision = { readonly type: string; readonly seconds: number };
export type StepStages = { readonly kind: string; readonly stages: readonly Stage[] };

const signals = ['emotion', 'cognitive'] as const;

/** @param samples 16-bit mono, without a header */
export async function decide(samples: Uint8Array, sampleRate: number, intervalSeconds: number) {
  const analyzer = await createAnalyzer(parseConfig({}));
  await analyzer.warm();
  const format = { encoding: 's16le', sample_rate_hz: sampleRate, channels: 1 } as const;
  const recording = createRecording(format);
  recording.append(samples);
  const schedule = createSchedule({ ...format, interval_s: intervalSeconds });
  const decisions: Decision[] = [];
  const steps: StepStages[] = [];
  const history: string[] = [];
  let settled = 0;
  let state = initialState;
  for (const { start, end, ...step } of schedule.advance(recording.frames())) {
    const request = {
      ...step,
      state,
      settled,
      history: step.measure ? history : [],
      signals,
      channel: null,
      audio: recording.wav(start, end),
      cancel: null,
    };
    const { messages, stages, ...after } = await analyzer.live(request);
    state = after.state;
    if (after.settled !== null) history.push(after.settled.chunk);
    settled = after.settled?.end ?? settled;
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
