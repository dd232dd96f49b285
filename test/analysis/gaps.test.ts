/** Gaps between the packets of a file: silence that was not sent, or missing audio. */
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { describeGaps, missingAudio, toGapFrames } from '../../src/engine/gaps.ts';
import { lacksNoise } from '../../src/engine/quality.ts';
import type { Segment } from '../../src/engine/segments.ts';
import { runsOf } from '../../src/engine/signals/measures.ts';
import type { DetectedSpeech } from '../../src/engine/speech.ts';
import { reporter } from '../support/analysis.ts';

const framesPerSecond = 100;
const offset = 0.3;

/** Twelve seconds with speech from 2 s to 10 s, silent in the gaps. */
function speechWith(gaps: readonly Segment[], noise: number): DetectedSpeech {
  const isSpeech = (frame: number) => frame >= 200 && frame < 1000;
  const isGap = (frame: number) => gaps.some(({ start, end }) => frame >= start && frame < end);
  const frames = Array.from({ length: 1200 }, (_, frame) => frame);
  const zeros = new Float32Array(1200);
  return {
    audio: { samples: new Float32Array(0), sampleRate: 16_000 },
    segments: [{ start: 200, end: 1000 }],
    framesPerSecond,
    speechSeconds: 8,
    power: Float32Array.from(frames, (frame) => (isGap(frame) ? 0 : isSpeech(frame) ? 1e-3 : noise)),
    speechProbability: Float32Array.from(frames, (frame) => (isSpeech(frame) && !isGap(frame) ? 0.9 : 0.1)),
    syllableRate: zeros,
    voiceLogOdds: zeros,
    clipped: zeros,
  };
}

function missingOf(gaps: readonly Segment[], noise = 1e-7): Segment[] {
  return missingAudio(describeGaps(gaps, speechWith(gaps, noise), offset), framesPerSecond);
}

test('a gap of up to 2 s in a pause is silence, a longer one is missing audio', (t) => {
  t.deepEqual(missingOf([{ start: 1000, end: 1200 }]), [{ start: 1000, end: 1200 }], 'cuts speech off');
  t.deepEqual(missingOf([{ start: 1010, end: 1190 }]), []);
  t.deepEqual(missingOf([{ start: 0, end: 199 }]), []);
  const long = speechWith([{ start: 0, end: 199 }], 1e-7);
  t.deepEqual(missingAudio(describeGaps([{ start: -10, end: 195 }], long, offset), framesPerSecond), []);
  const three = { start: 150, end: 1200 };
  t.deepEqual(missingOf([three]), [three]);
});

test('a gap that begins in speech is missing audio, however short, in noise too', (t) => {
  for (const noise of [1e-9, 1e-7, 1e-5, 1e-4]) {
    t.deepEqual(missingOf([{ start: 500, end: 512 }], noise), [{ start: 500, end: 512 }], `${noise}`);
    t.deepEqual(missingOf([{ start: 1050, end: 1150 }], noise), [], `${noise}`);
  }
});

test('a gap that a cut between chunks divides is one gap', (t) => {
  const parts = [
    { start: 100, end: 250, cutsSpeech: false },
    { start: 250, end: 400, cutsSpeech: true },
    { start: 600, end: 700, cutsSpeech: false },
  ];
  t.deepEqual(missingAudio(parts, framesPerSecond), [{ start: 100, end: 400 }]);
  const [part] = describeGaps([{ start: -100, end: 50 }], speechWith([], 0), offset);
  t.deepEqual(part, { start: 0, end: 50, cutsSpeech: false });
});

test('seconds are the nearest frames', (t) => {
  const [gap] = toGapFrames(Float64Array.of(7.9935, 12.9935), framesPerSecond);
  t.deepEqual(gap, { start: 799, end: 1299 });
});

test('missing audio is no pause', (t) => {
  const segments = [
    { start: 0, end: 100 },
    { start: 200, end: 300 },
    { start: 400, end: 500 },
  ];
  const missing = [
    { start: 220, end: 240 },
    { start: 350, end: 380 },
  ];
  const runs = runsOf({ segments, missing, framesPerSecond }, { minTurnSeconds: 0.5 });
  t.deepEqual(
    runs.map(({ pause }) => pause),
    [1, 0, 0],
  );
});

test('noise is lacking where gaps fill the pauses', (t) => {
  const lacks = (gaps: readonly Segment[]) => lacksNoise(gaps, speechWith(gaps, 1e-7));
  t.false(lacks([]));
  t.false(lacks([{ start: 1000, end: 1200 }]), 'noise before speech');
  t.false(lacks([{ start: 500, end: 600 }]), 'a gap in speech');
  const pauses = [
    { start: -10, end: 170 },
    { start: 1010, end: 1250 },
  ];
  t.true(lacks(pauses));
  const [first, second] = pauses as [Segment, Segment];
  t.false(lacks([{ ...first, end: 150 }, second]), '0.4 s of noise');
});

test('a recording without the noise of its pauses has no SNR', async (t) => {
  const analyze = await reporter('models/standard');
  const snrOf = async (name: string) => (await analyze(fixture(name))).audio.snr_db;
  t.is(await snrOf('noisy-gap.webm'), null);
  t.is(typeof (await snrOf('noisy.webm')), 'number');
});
