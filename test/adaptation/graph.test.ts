/** Corrections in the graph of a shipped head compute what `correct` computes. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { correct, softmax } from '../../src/adaptation/correction.ts';
import { correctGraph } from '../../src/adaptation/graph.ts';
import { minProbability } from '../../src/adaptation/labels.ts';
import { readOnnx, writeOnnx } from '../../src/adaptation/onnx.ts';
import type { Values } from '../../src/analysis/platform.ts';
import { createRandom } from '../../src/evaluation/statistics.ts';
import { openSession } from '../../src/models/session.ts';

const width = 384;
const tokens = 9;
const random = createRandom(1);
const inputs: Record<'tokens' | 'weights', Values> = {
  tokens: {
    data: Float32Array.from({ length: tokens * width }, () => random() - 0.5),
    shape: [1, tokens, width],
  },
  weights: { data: Float32Array.from({ length: tokens }, random), shape: [1, tokens] },
};
const { labels: known } = JSON.parse(readFileSync('models/standard/emotion/manifest.json', 'utf8'));

/** Mean of the embeddings, weighted by speech. */
function embedding(): Float32Array {
  const mean = new Float32Array(width);
  const total = inputs.weights.data.reduce((sum, weight) => sum + weight, 0);
  for (let at = 0; at < tokens * width; at++) {
    const share = (inputs.weights.data[Math.floor(at / width)] as number) / total;
    mean[at % width] = (mean[at % width] as number) + share * (inputs.tokens.data[at] as number);
  }
  return mean;
}

const randomWeights = (outputs: number) =>
  Float64Array.from({ length: width * outputs }, () => random() - 0.5);

test('labels and scores of the emotion head', async (t) => {
  const labels = ['happy', 'sad', 'bored'];
  const correction = { scale: 0.8, bias: Float64Array.of(0.1, -0.2, 0.3), weights: randomWeights(3) };
  const line = {
    scale: 0.5,
    bias: Float64Array.of(0.2),
    weights: randomWeights(1).map((value) => value / 50),
  };
  const weights = readFileSync('models/standard/emotion/weights.onnx');
  const before = await (await openSession(weights)).run(inputs);
  const scores = { valence: { correction: line, widen: 1 } };
  const graph = correctGraph(weights, { labels: { known, labels, correction }, scores });
  const session = await openSession(graph);
  t.deepEqual(session.outputs, (await openSession(weights)).outputs);
  const after = await session.run(inputs);
  const mean = embedding();
  const logs = labels.map((label) =>
    known.includes(label)
      ? Math.log(Math.max(minProbability, before.probabilities?.data[known.indexOf(label)] as number))
      : 0,
  );
  const expected = softmax(correct(correction, { base: Float64Array.from(logs), embedding: mean }));
  t.deepEqual(after.probabilities?.shape, [1, 3]);
  near(t, after.probabilities?.data, expected);
  const base = Float64Array.from(before.valence?.data ?? []);
  near(t, after.valence?.data, correct(line, { base, embedding: mean }));
  near(t, after.arousal?.data, before.arousal?.data);
  near(t, after.distance?.data, before.distance?.data);
});

test('a score is clipped to [0, 1]', async (t) => {
  const weights = readFileSync('models/standard/cognitive/weights.onnx');
  const correction = { scale: 1, bias: Float64Array.of(5), weights: null };
  const graph = correctGraph(weights, { labels: null, scores: { clarity: { correction, widen: 1 } } });
  const { params } = JSON.parse(readFileSync('models/standard/cognitive/manifest.json', 'utf8'));
  const sums = { data: new Float32Array(params.poolingSums), shape: [1, params.poolingSums] };
  const session = await openSession(graph);
  t.deepEqual([...((await session.run({ ...inputs, sums })).clarity?.data ?? [])], [1]);
});

test('reading and writing keeps every byte; other files are refused', (t) => {
  for (const name of ['emotion', 'cognitive', 'trunk', 'vad']) {
    const bytes = readFileSync(`models/standard/${name}/weights.onnx`);
    t.true(Buffer.from(writeOnnx(readOnnx(bytes))).equals(bytes), name);
  }
  const extended = Buffer.concat([
    readFileSync('models/standard/cognitive/weights.onnx'),
    Buffer.from([0xa2, 0x06, 0x01, 0x61]),
  ]);
  t.throws(() => readOnnx(extended), { message: /^Expected an ONNX file with no other fields/ });
});

type Floats = ArrayLike<number> | undefined;

function near(t: { true(value: boolean, message?: string): unknown }, got: Floats, expected: Floats): void {
  const pairs = Array.from(expected ?? [], (value, at) => [got?.[at] ?? Number.NaN, value] as const);
  t.true(
    pairs.length > 0 && pairs.every(([one, other]) => Math.abs(one - other) < 1e-5),
    JSON.stringify(pairs),
  );
}
