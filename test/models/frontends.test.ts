/** Front ends of published models against the extractor of the addon, which is compared with theirs in test/native. */
import test from 'ava';
import type { FeatureSpec, Values } from '../../src/engine/index.ts';
import { extract } from '../../src/node/addon.ts';
import { specs } from '../../src/node/feature-specs.ts';
import { openSession } from '../../src/node/onnx.ts';
import type { Frontend } from '../../src/tools/models/description.ts';
import { writeFrontend } from '../../src/tools/models/frontends.ts';
import { GraphWriter, writeModel, writeValue } from '../../src/tools/models/graph.ts';
import { samplesOf } from '../support/analysis.ts';

const rate = 16_000;
const speech = samplesOf('speech.wav');

async function run(frontend: Frontend, samples: Float32Array, rank = 3) {
  const g = new GraphWriter('n', 17);
  g.op('Identity', [writeFrontend(g, 'samples', frontend)], {}, 'y');
  const { nodes, weights } = g;
  const session = await openSession(
    writeModel({
      irVersion: 9,
      opsets: [['', 17]],
      nodes,
      weights,
      inputs: [writeValue('samples', [1, 'n'])],
      outputs: [writeValue('y', [1, 'rows', 'columns'].slice(0, rank))],
    }),
  );
  const { y } = await session.run({ samples: { data: samples, shape: [1, samples.length] } });
  return y as Values;
}

function farthest(one: ArrayLike<number>, other: ArrayLike<number>): number {
  return Array.from(one).reduce(
    (most, value, at) => Math.max(most, Math.abs(value - (other[at] as number))),
    0,
  );
}

function transpose(data: Float32Array, rows: number): Float32Array {
  const columns = data.length / rows;
  return data.map((_, at) => data[(at % rows) * columns + Math.floor(at / rows)] as number);
}

for (const bins of [80, 128]) {
  test(`Whisper's log-mel of ${bins} bands`, async (t) => {
    const seconds = 30;
    const padded = new Float32Array(seconds * rate);
    padded.set(speech.subarray(0, 7.3 * rate));
    const { data, shape } = await run({ kind: 'whisper', bins, seconds }, padded.subarray(0, 7.3 * rate));
    t.deepEqual(shape, [1, bins, 100 * seconds]);
    const spec: FeatureSpec = { ...specs['whisper-input-80'], nMels: bins };
    const wanted = extract(padded, spec);
    t.is(wanted.frames, 100 * seconds);
    t.true(farthest(transpose(data, bins), wanted.data) < 1e-3);
  });
}

test("AST's filterbanks, with their mean and deviation", async (t) => {
  const samples = speech.subarray(0, 5 * rate);
  const frames = 1024;
  const { data, shape } = await run({ kind: 'ast', bins: 128, frames, mean: -4, deviation: 9 }, samples);
  t.deepEqual(shape, [1, frames, 128]);
  const spec: FeatureSpec = { ...specs['kaldi-log-mel-80'], window: 'hann', nMels: 128 };
  const wanted = extract(samples, spec);
  t.is(wanted.frames, 498);
  const scaled = wanted.data.map((value) => (value + 4) / 9);
  t.true(farthest(scaled, data) < 1e-3);
  t.true(data.subarray(wanted.data.length).every((value) => Math.abs(value - 4 / 9) < 1e-6));
});

test('samples of mean 0 and variance 1', async (t) => {
  const samples = Float32Array.from({ length: rate }, (_, at) => 0.2 + 0.01 * Math.sin(at / 9));
  const { data } = await run({ kind: 'samples', standardised: true }, samples, 2);
  const mean = data.reduce((sum, value) => sum + value, 0) / data.length;
  const variance = data.reduce((sum, value) => sum + (value - mean) ** 2, 0) / data.length;
  t.true(Math.abs(mean) < 1e-4 && Math.abs(variance - 1) < 5e-3);
  t.deepEqual((await run({ kind: 'samples', standardised: false }, samples, 2)).data, samples);
});
