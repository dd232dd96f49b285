import test from 'ava';
import { extract, type FeatureSpec } from '../../src/audio/addon.ts';
import { specs } from '../../src/audio/feature-presets.ts';
import { upgradeFeatureSpec } from '../../src/audio/feature-spec.ts';

const whisper = specs['whisper-input-80'] as FeatureSpec;

/** The same spec with the keys of earlier versions. */
function downgrade(spec: FeatureSpec, dynamicRange: number | null): FeatureSpec {
  const { winLength, hopLength, nFft, nMels, nMfcc, topDb: _, ...rest } = spec;
  const old = { frameLength: winLength, hop: hopLength, fftLength: nFft, bins: nMels, coefficients: nMfcc };
  return { ...rest, ...old, dynamicRange } as unknown as FeatureSpec;
}

test('a spec with current keys stays the same object', (t) => {
  t.is(upgradeFeatureSpec(whisper), whisper);
});

test('keys of earlier versions are renamed', (t) => {
  t.deepEqual(upgradeFeatureSpec(downgrade(whisper, 8)), whisper);
  const padded = { ...whisper, padding: 'reflect-kaldi' } as unknown as FeatureSpec;
  t.is(upgradeFeatureSpec(padded).padding, 'snip-edges-false');
});

test('an old dynamic range becomes decibels', (t) => {
  const magnitude = { ...whisper, spectrum: 'magnitude' } as const;
  t.is(upgradeFeatureSpec(downgrade(magnitude, 4)).topDb, 80);
  const natural = { ...whisper, logBase: 'e' } as const;
  t.is(upgradeFeatureSpec(downgrade(natural, Math.LN10)).topDb, 10);
  t.is(upgradeFeatureSpec(downgrade(whisper, null)).topDb, null);
});

test('the extractor accepts old keys, but not both names of one', (t) => {
  const samples = new Float32Array(16_000).fill(0.1);
  t.deepEqual(extract(samples, downgrade(whisper, 8)), extract(samples, whisper));
  const both = { ...whisper, hop: 160 } as FeatureSpec;
  t.like(
    t.throws(() => extract(samples, both)),
    { code: 'bad_argument' },
  );
});
