/** Moments: what sounds more emotional than the rest of the recording, wherever it is asked for. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { defaultOptions } from '../../src/engine/chunks.ts';
import type { LiveState } from '../../src/engine/live.ts';
import type { LiveMessage } from '../../src/engine/live-messages.ts';
import { wavHeader } from '../../src/engine/pcm.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits } from '../support/analysis.ts';
import { outburst } from '../support/recordings.ts';

const rate = 16_000;
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
const loud = outburst(true);
const even = outburst(false);

async function reportsOf(audio: Uint8Array, channels: 'split' | null = null) {
  const request = { ...defaultOptions, audio, channels, baselines: [], cancel: null };
  const analyses = await analyzer.analyze({ ...request, signals: ['emotion', 'cognitive'] });
  return analyses.map((analysis) => combinedReport(analysis, '').emotion);
}

function isLoud({ start_s, end_s }: { readonly start_s: number; readonly end_s: number }): boolean {
  return start_s >= loud.start && end_s <= loud.start + 2;
}

test('an outburst among plain utterances is the moment of a recording, and without it there is none', async (t) => {
  const [emotion] = await reportsOf(wavFile(loud.samples));
  t.is(emotion?.moments.length, 1);
  const [moment] = emotion?.moments ?? [];
  t.true(moment !== undefined && isLoud(moment));
  t.true(
    emotion?.timeline.some(({ start_s, end_s }) => start_s === moment?.start_s && end_s === moment.end_s),
  );
  t.is(emotion?.signals.dominant_emotion, 'neutral');
  const [others] = await reportsOf(wavFile(even.samples));
  t.deepEqual(others?.moments, []);
});

test('the moments of a channel are those of its speaker', async (t) => {
  const both = new Float32Array(2 * loud.samples.length);
  for (const [at, sample] of loud.samples.entries()) {
    both[2 * at] = even.samples[at] ?? 0;
    both[2 * at + 1] = sample;
  }
  const [first, second] = await reportsOf(wavFile(both, rate, 2), 'split');
  t.deepEqual(first?.moments, []);
  t.deepEqual(second?.moments.map(isLoud), [true]);
});

test('a live session reports the moment with its turn', async (t) => {
  const format = { encoding: 'f32le', sampleRate: rate, channels: 1 } as const;
  const bytes = new Uint8Array(loud.samples.buffer);
  const turns: LiveMessage[] = [];
  let state: LiveState | null = null;
  const step = 4 * 0.25 * rate;
  for (let at = 0; at < bytes.length; at += step) {
    const isLast = at + step >= bytes.length;
    const output = await analyzer.live({
      format,
      bytes: bytes.subarray(at, at + step),
      state,
      signals: ['emotion'],
      split: false,
      measure: false,
      cause: isLast ? 'session.end' : null,
      cancel: null,
    });
    state = output.state;
    turns.push(...output.messages.filter(({ type }) => type === 'turn'));
  }
  const [emotion] = await reportsOf(Buffer.concat([wavHeader(format, bytes.length), bytes]));
  const flagged = turns.filter((turn) => 'moment' in (turn.emotion as object));
  t.is(turns.length, emotion?.timeline.length ?? 0);
  t.deepEqual(
    flagged.map(({ start_s }) => start_s),
    emotion?.moments.map(({ start_s }) => start_s),
  );
});
