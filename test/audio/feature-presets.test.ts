import { readFileSync } from 'node:fs';
import test from 'ava';
import type { FeatureSpec } from '../../src/engine/platform.ts';
import { extract } from '../../src/node/addon.ts';
import { type SpecName, specs } from '../../src/node/features.ts';

/** The signal of test/native/oracles/make.py, which computed the arrays with Kaldi and librosa. */
function oracleSignal(): Float32Array {
  let state = 1;
  return Float32Array.from({ length: 4800 }, (_, index) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = (state >>> 8) / 2 ** 24 - 0.5;
    const square = Math.floor(index / 40) % 2 === 1 ? 0.1 : -0.1;
    return (0.5 * noise * ((index % 1600) + 1)) / 1600 + square + 0.02;
  });
}

const cases: readonly [spec: SpecName, oracle: string, change: Partial<FeatureSpec>][] = [
  ['whisper-input-80', 'whisper', {}],
  ['kaldi-log-mel-80', 'kaldi_fbank', {}],
  // The array was made with snip_edges=false.
  ['kaldi-mfcc-13', 'kaldi_mfcc', { padding: 'snip-edges-false' }],
];

for (const [name, oracle, change] of cases) {
  test(`${name} matches the library that it names`, (t) => {
    const { data } = extract(oracleSignal(), { ...specs[name], ...change });
    const bytes = readFileSync(`test/native/oracles/${oracle}.f32`);
    const expected = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
    t.is(data.length, expected.length);
    const worst = Math.max(...data.map((value, index) => Math.abs(value - (expected[index] as number))));
    t.true(worst < 2e-3, `${worst}`);
  });
}

test('every preset is a valid spec', (t) => {
  for (const [name, spec] of Object.entries(specs)) {
    const { bins, frames } = extract(new Float32Array(16_000), spec);
    t.true(name.endsWith(`-${bins}`));
    t.true(frames >= 98 && frames <= 101);
  }
});
