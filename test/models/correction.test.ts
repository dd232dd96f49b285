/** correction.json of a head: its outputs against the formula, and what the loader refuses. */
import { renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { ModelError, type Tensor, type Values } from '../../src/engine/platform.ts';
import { loadModels, readManifests } from '../../src/node/models.ts';
import { createRandom } from '../../src/tools/evaluate/statistics.ts';
import { editManifest, withCorrection } from '../support/models.ts';

const models = await loadModels('models/standard');
const width = models.trunk.session.widths.tokens as number;
const tokens = 9;
const random = createRandom(1);
const inputs: Record<'tokens' | 'weights', Values> = {
  tokens: {
    data: Float32Array.from({ length: tokens * width }, () => random() - 0.5),
    shape: [1, tokens, width],
  },
  weights: { data: Float32Array.from({ length: tokens }, random), shape: [1, tokens] },
};
const known = models.emotion.manifest.labels as readonly string[];
const randomWeights = (outputs: number) => Array.from({ length: width * outputs }, () => random() - 0.5);

/** Sum over the embeddings, weighted by speech, of their product with a column of the weights. */
function product(weights: readonly number[], outputs: number, output: number): number {
  const total = inputs.weights.data.reduce((sum, weight) => sum + weight, 0);
  let sum = 0;
  for (let token = 0; token < tokens; token++)
    for (let dimension = 0; dimension < width; dimension++)
      sum +=
        ((inputs.weights.data[token] as number) / total) *
        (inputs.tokens.data[token * width + dimension] as number) *
        (weights[dimension * outputs + output] as number);
  return sum;
}

test('labels and scores of the emotion head', async (t) => {
  const labels = ['happy', 'sad', 'bored'];
  const own = { scale: 0.8, bias: [0.1, -0.2, 0.3], weights: randomWeights(3) };
  const line = { scale: 0.5, bias: [0.2], weights: randomWeights(1).map((value) => value / 50) };
  const text = JSON.stringify({ labels: { known, labels, correction: own }, scores: { valence: line } });
  const folder = await withCorrection(t, 'emotion', text);
  await editManifest(folder, 'emotion', (manifest) => Object.assign(manifest, { labels }));
  const before = await models.emotion.session.run(inputs);
  const after = await (await loadModels(folder)).emotion.session.run(inputs);
  t.deepEqual(Object.keys(after), Object.keys(before));
  const odds = labels.map((label, at) => {
    const probability = before.probabilities?.data[known.indexOf(label)] ?? 1;
    return (
      Math.max(probability, 1e-4) ** own.scale * Math.exp((own.bias[at] ?? 0) + product(own.weights, 3, at))
    );
  });
  const sum = odds.reduce((all, one) => all + one, 0);
  t.deepEqual(after.probabilities?.shape, [1, 3]);
  near(
    t,
    after.probabilities,
    odds.map((one) => one / sum),
  );
  near(t, after.valence, [0.5 * (before.valence?.data[0] as number) + 0.2 + product(line.weights, 1, 0)]);
  t.deepEqual(after.valence?.shape, [1]);
  for (const name of ['arousal', 'distance', 'valence_spread'] as const)
    t.deepEqual(after[name], before[name]);
});

test('a score is clipped to [0, 1], and sums of utterances stay as they are', async (t) => {
  const text = JSON.stringify({ labels: null, scores: { clarity: { scale: 1, bias: [5], weights: null } } });
  const { cognitive } = await loadModels(await withCorrection(t, 'cognitive', text));
  const { poolingSums } = cognitive.manifest.params;
  const sums = { data: new Float32Array(poolingSums), shape: [1, poolingSums] };
  const after = await cognitive.session.run({ ...inputs, sums });
  t.deepEqual([...(after.clarity?.data ?? [])], [1]);
  t.deepEqual(after.next_sums, (await models.cognitive.session.run({ ...inputs, sums })).next_sums);
});

const line = { scale: 1, bias: [0], weights: null };
const ofLabels = (change: object) => {
  const correction = { scale: 1, bias: known.map(() => 0), weights: null, ...change };
  return { labels: { known, labels: known, correction }, scores: {} };
};

for (const [what, correction, message] of [
  ['no object', [], /expected object/],
  ['an unknown member', { labels: null, scores: {}, version: 1 }, /Unrecognized key: "version"/],
  [
    'a member of a score',
    { labels: null, scores: { valence: { ...line, clip: 1 } } },
    /"clip".*scores\.valence/s,
  ],
  ['a missing member', { labels: null }, /scores/],
  ['text for a number', { labels: null, scores: { valence: { ...line, scale: '1' } } }, /expected number/],
  ['a number beyond float32', { labels: null, scores: { valence: { ...line, scale: 1e39 } } }, /scale/],
  [
    'another output',
    { labels: null, scores: { distance: line } },
    /Expected valence or arousal for `scores`, got distance$/,
  ],
  [
    'two biases',
    { labels: null, scores: { valence: { ...line, bias: [0, 0] } } },
    /Expected 1 for the length of `bias` of `valence`, got 2$/,
  ],
  [
    'few weights',
    { labels: null, scores: { valence: { ...line, weights: [0] } } },
    new RegExp(`Expected ${width} for the length of \`weights\` of \`valence\`, got 1$`),
  ],
  ['few biases', ofLabels({ bias: [0] }), /Expected 7 for the length of `bias` of `labels`, got 1$/],
  [
    'many weights',
    ofLabels({ weights: Array(width * 7 + 1).fill(0) }),
    new RegExp(`Expected ${width * 7} for .*, got ${width * 7 + 1}$`),
  ],
  [
    'labels that the weights lack',
    { ...ofLabels({}), labels: { ...ofLabels({}).labels, known: ['a', 'b'] } },
    /Expected 7 for the length of `known`, got 2$/,
  ],
  [
    'labels that the manifest lacks',
    { ...ofLabels({}), labels: { ...ofLabels({}).labels, labels: ['a', 'b'] } },
    /Expected .* for `labels`, got \["a","b"\]$/,
  ],
] as const satisfies readonly (readonly [string, object, RegExp])[]) {
  test(`refused: a correction with ${what}`, async (t) => {
    await refused(t, await withCorrection(t, 'emotion', JSON.stringify(correction)), message);
  });
}

for (const number of ['1e999', 'NaN']) {
  test(`refused: ${number}`, async (t) => {
    const text = `{"labels":null,"scores":{"valence":{"scale":${number},"bias":[0],"weights":null}}}`;
    await refused(t, await withCorrection(t, 'emotion', text), /correction\.json/);
  });
}

const valid = JSON.stringify({ labels: null, scores: { valence: line } });

for (const [what, change, message] of [
  ['changed', (file) => writeFileSync(file, `${valid} `), /Expected "[0-9a-f]{64}" for `correction\.sha256`/],
  ['missing', (file) => rmSync(file), /Expected a readable file correction\.json, got ENOENT$/],
  [
    'a link',
    (file) => {
      renameSync(file, `${file}.txt`);
      symlinkSync(`${file}.txt`, file);
    },
    /Expected a file correction\.json, got a symbolic link$/,
  ],
] as const satisfies readonly (readonly [string, (file: string) => void, RegExp])[]) {
  test(`refused: a correction that is ${what}`, async (t) => {
    const folder = await withCorrection(t, 'emotion', valid);
    await t.notThrowsAsync(loadModels(folder));
    change(join(folder, 'emotion', 'correction.json'));
    await t.throwsAsync(readManifests(folder), { instanceOf: ModelError, message });
  });
}

async function refused(t: ExecutionContext, folder: string, message: RegExp): Promise<void> {
  const error = await t.throwsAsync(loadModels(folder), { instanceOf: ModelError, message });
  t.regex(error?.message ?? '', /^Model emotion: (correction\.json: |Expected JSON in correction\.json)/);
}

function near(t: ExecutionContext, got: Tensor | undefined, expected: readonly number[]): void {
  t.is(got?.data.length, expected.length);
  for (const [at, value] of expected.entries())
    t.true(Math.abs((got?.data[at] ?? Number.NaN) - value) < 1e-5, `${got?.data[at]}, not ${value}`);
}
