import test from 'ava';
import { interval } from '../../src/signals/intervals.ts';
import { poolWindows } from '../../src/signals/pooling.ts';
import { toneOf } from '../../src/signals/tone.ts';
import { countFaults, warnOfRecording } from '../../src/signals/warnings.ts';

test('windows weigh by their speech', (t) => {
  t.deepEqual(
    poolWindows(
      [
        [0, 1],
        [1, 0],
      ],
      [300, 100],
    ),
    [0.25, 0.75],
  );
});

test('an interval is wider on short or poor input and stays in [0, 1]', (t) => {
  t.deepEqual(interval(0.5, 0.1, 5, 3, 0), [0.4, 0.6]);
  t.deepEqual(interval(0.5, 0.1, 0.75, 3, 0), [0.3, 0.7]);
  t.deepEqual(interval(0.5, 0.2, 5, 3, 1), [0.25, 0.75]);
  t.deepEqual(interval(0.05, 0.1, 5, 3, 0), [0, 0.15000000000000002]);
});

test('tone follows its documented bounds', (t) => {
  const cases = [
    [0.5, 0.4, 'calm'],
    [0.44, 0.4, 'subdued'],
    [0.29, 0.41, 'distressed'],
    [0.44, 0.9, 'tense'],
    [0.55, 0.5, 'engaged'],
    [0.5, 0.6, 'engaged'],
    [0.5, 0.5, 'neutral'],
  ] as const;
  for (const [valence, arousal, tone] of cases) t.is(toneOf(valence, arousal), tone);
});

const source = {
  container: 'wav',
  codec: 'pcm_s16le',
  sampleRate: 16000,
  channels: 2,
  clippedRatio: 0,
  channelCorrelation: 1,
  truncated: false,
};
const quality = { levelDbfs: -20, snrDb: 30, bandwidthHz: 7000 };

test('a good recording has no warning; each fault has its own', (t) => {
  t.deepEqual(warnOfRecording(source, quality), []);
  t.deepEqual(warnOfRecording(source, { ...quality, snrDb: null }), []);
  t.deepEqual(warnOfRecording(source, null), []);
  const poor = warnOfRecording(
    { ...source, clippedRatio: 0.01, channelCorrelation: 0.1, truncated: true },
    { ...quality, snrDb: 5, bandwidthHz: 3400 },
  );
  t.deepEqual(poor, ['low_snr', 'clipped', 'narrow_band', 'channels_differ', 'truncated']);
  t.is(countFaults(poor), 3);
});
