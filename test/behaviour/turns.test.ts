/** Listening is not pausing: the turns of another speaker change neither load nor clarity. */
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import type { LiveState } from '../../src/engine/live.ts';
import { defaultOptions, type SpeakerSegment } from '../../src/engine/options.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';

const rate = 16_000;
/** Of load, processing and clarity. */
const maxChange = 0.05;
/** Of the ends of their intervals: fewer pauses are left. */
const maxIntervalChange = 0.15;
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
const silence = (seconds: number) => new Float32Array(seconds * rate);

/** Each a sentence. */
const own = [1, 2, 3, 1, 2, 3].map((index) => speech(`low-${index}`));
const other = [1, 2, 3].map((index) => speech(`high-${index}`));

/** The sentences with 0.6 s between two of them. */
const monologue = joinArrays(own.flatMap((sentence) => [sentence, silence(0.6)]));

/** The same with a sentence of the other, and 0.5 s on both sides of it, after every second sentence. */
const call = (() => {
  const tracks: [Float32Array[], Float32Array[]] = [[], []];
  const segments: SpeakerSegment[] = [];
  let at = 0;
  const add = (index: 0 | 1, samples: Float32Array) => {
    tracks[index].push(samples);
    tracks[1 - index]?.push(new Float32Array(samples.length));
    at += samples.length / rate;
  };
  for (const [index, sentence] of own.entries()) {
    const start = at;
    add(0, sentence);
    segments.push({ start, end: at, speaker: 'own' });
    add(0, silence(index % 2 === 0 ? 0.6 : 0.5));
    if (index % 2 === 0) continue;
    const from = at;
    add(1, other[index >> 1] as Float32Array);
    segments.push({ start: from, end: at, speaker: 'other' });
    add(0, silence(0.5));
  }
  const [first, second] = tracks.map(joinArrays) as [Float32Array, Float32Array];
  const both = new Float32Array(2 * first.length);
  for (const [index, sample] of first.entries()) {
    both[2 * index] = sample;
    both[2 * index + 1] = second[index] as number;
  }
  // The pause between two sentences belongs to the speaker of both.
  return { both, mixed: first.map((sample, index) => sample + (second[index] as number)), segments };
})();

const scoreNames = ['cognitive_load', 'processing', 'clarity'] as const;
type CognitiveSignals = Readonly<Record<(typeof scoreNames)[number], number>> & {
  readonly intervals: Readonly<Record<(typeof scoreNames)[number], readonly [number, number]>>;
};

async function scoresOf(audio: Uint8Array, options: Partial<typeof defaultOptions> = {}) {
  const request = { ...defaultOptions, ...options, audio, baselines: [], cancel: null };
  const [analysis] = await analyzer.analyze({ ...request, signals: ['emotion', 'cognitive'] });
  const { signals, measures } = combinedReport(analysis, '').cognitive;
  return { ...(signals as CognitiveSignals), measures };
}

test('the turns of another speaker are no pauses, by channel and by segment', async (t) => {
  const alone = await scoresOf(wavFile(monologue));
  const found = {
    channel: await scoresOf(wavFile(call.both, rate, 2), { channels: 'split' }),
    segments: await scoresOf(wavFile(call.mixed), { segments: call.segments }),
    // Segments of a diarizer end before the voice does.
    tight: await scoresOf(wavFile(call.mixed), {
      segments: call.segments.map((one) => ({ ...one, start: one.start + 0.15, end: one.end - 0.15 })),
    }),
  };
  for (const [how, scores] of Object.entries(found)) {
    for (const name of scoreNames) {
      const [score, expected] = [scores[name], alone[name]];
      t.true(Math.abs(score - expected) <= maxChange, `${how} ${name} ${score} ${expected}`);
      for (const [end, bound] of scores.intervals[name].entries()) {
        const other = alone.intervals[name][end] as number;
        t.true(Math.abs(bound - other) <= maxIntervalChange, `${how} ${name} ${bound} ${other}`);
      }
    }
    const ratio = (of: typeof scores) => of.measures.pause_ratio?.value ?? Number.NaN;
    t.true(Math.abs(ratio(scores) - ratio(alone)) < 0.1, how);
  }
});

test('a measurement of a split live session counts turns as the report does', async (t) => {
  const bytes = new Uint8Array(call.both.buffer);
  const step = 2 * 4 * 0.25 * rate;
  let state: LiveState | null = null;
  let last: Readonly<Record<string, number>> = {};
  for (let at = 0; at < bytes.length; at += step) {
    const output = await analyzer.live({
      format: { encoding: 'f32le', sampleRate: rate, channels: 2 },
      bytes: bytes.subarray(at, at + step),
      state,
      signals: ['emotion', 'cognitive'],
      split: true,
      speakers: null,
      measure: true,
      cause: at + step >= bytes.length ? 'session.end' : null,
      cancel: null,
    });
    state = output.state;
    const measured = output.messages.filter(({ type, channel }) => type === 'measurement' && channel === 0);
    last = (measured.at(-1)?.cognitive as typeof last | undefined) ?? last;
  }
  const report = await scoresOf(wavFile(call.both, rate, 2), { channels: 'split' });
  for (const name of ['cognitive_load', 'processing'] as const)
    t.true(Math.abs((last[name] ?? 0) - report[name]) <= maxChange, `${name} ${last[name]} ${report[name]}`);
});
