/** Measurements of a stream against the report of the same samples. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { createAnalyzer } from '../../src/analysis/analyze.ts';
import { initialState } from '../../src/analysis/live-turns.ts';
import { combinedReport } from '../../src/analysis/report.ts';
import { defaultOptions } from '../../src/analysis/types.ts';
import { createRecording } from '../../src/stream/recording.ts';
import { createSchedule } from '../../src/stream/schedule.ts';
import { limits } from '../support/analysis.ts';
import { dataOf } from '../support/stream-audio.ts';

const format = { encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;
const signals = ['emotion', 'cognitive'] as const;
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

type Scores = {
  readonly cognitive_load: number;
  readonly clarity: number;
  readonly processing: number;
  readonly confidence: number;
  readonly intervals: Readonly<Record<string, readonly [number, number]>>;
};

/** The cognitive signals of each measurement, and what the stream keeps for them. */
async function stream(samples: Buffer, interval_s = 3) {
  const recording = createRecording(format);
  recording.append(samples);
  const schedule = createSchedule({ ...format, interval_s });
  const history: string[] = [];
  let settled = 0;
  const measured: Scores[] = [];
  let state = initialState;
  for (const { start, end, ...step } of schedule.advance(recording.frames())) {
    const audio = recording.wav(start, end);
    const request = { ...step, state, settled, history, signals, channel: null, audio, cancel: null };
    const output = await analyzer.live(request);
    state = output.state;
    if (output.settled !== null) history.push(output.settled.chunk);
    settled = output.settled?.end ?? settled;
    for (const { type, cognitive } of output.messages) {
      if (type === 'measurement') measured.push(cognitive as Scores);
    }
  }
  const audio = recording.takeWav();
  const request = { ...defaultOptions, audio: Buffer.concat(audio), baselines: [], signals, cancel: null };
  const [analysis] = await analyzer.analyze(request);
  return { history, measured, final: combinedReport(analysis, '').cognitive.signals as Scores };
}

/** Sentences with pauses between them, s: some longer than the samples of a step. */
function speechWithPauses(pauses: readonly number[]): Buffer {
  const speech = dataOf(readFileSync('examples/sample.wav')).subarray(0, 10 * 32_000);
  const blocks = pauses.flatMap((seconds) => [speech, Buffer.alloc(32_000 * seconds)]);
  return Buffer.concat(blocks);
}

function isNear(one: Scores, other: Scores, score: keyof Scores['intervals'] & keyof Scores): boolean {
  const values = ({ [score]: value, intervals }: Scores) => [value as number, ...(intervals[score] ?? [])];
  const others = values(other);
  return values(one).every((value, index) => Math.abs(value - (others[index] as number)) <= 0.05);
}

test('cognitive load and processing of the session so far end at those of the report', async (t) => {
  const samples = speechWithPauses([0.5, 14, 2, 0.75, 25, 1, 0.25]);
  const { final, history, measured } = await stream(samples);
  const last = measured.at(-1) as Scores;
  t.true(isNear(last, final, 'cognitive_load'));
  t.true(isNear(last, final, 'processing'));
  const bytes = history.reduce((sum, { length }) => sum + length, 0);
  t.true(bytes <= 1024 * (samples.length / 32_000));
});

test('clarity of the session so far ends at that of the report', async (t) => {
  const { final, measured } = await stream(speechWithPauses([0.5, 0.3, 1, 0.75, 0.3]));
  t.true(isNear(measured.at(-1) as Scores, final, 'clarity'));
});

test('what is between rare measurements counts', async (t) => {
  const { final, measured } = await stream(speechWithPauses([2, 14, 1, 2, 2]).subarray(0, 60 * 32_000), 60);
  t.is(measured.length, 1);
  t.true(isNear(measured[0] as Scores, final, 'cognitive_load'));
  t.true(isNear(measured[0] as Scores, final, 'processing'));
});
