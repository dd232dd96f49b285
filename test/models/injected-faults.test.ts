/** Faults injected into a copy of the shipped models: the loader or the golden check detects each. */
import test from 'ava';
import type { Models } from '../../src/engine/loader.ts';
import { goldenDifferences, kinds } from '../../src/engine/loader.ts';
import { ModelError, type Values } from '../../src/engine/platform.ts';
import { createAnalyzer, loadModels, readGolden } from '../../src/node/models.ts';
import { limits } from '../support/analysis.ts';
import {
  copyModels,
  editManifest,
  editWeights,
  type Json,
  renewHash,
  withManifest,
} from '../support/models.ts';

const sad = 3;
const fearful = 5;

function swap<T>(values: T[]): T[] {
  const swapped = [...values];
  [swapped[sad], swapped[fearful]] = [values[fearful] as T, values[sad] as T];
  return swapped;
}

async function emotionDifferences(models: Models, folder: string): Promise<string[]> {
  return goldenDifferences(models, await readGolden(folder, 'emotion'), 'emotion');
}

test('two labels swapped in the manifest: the golden check detects it', async (t) => {
  const folder = await withManifest(t, 'emotion', (manifest) => {
    manifest.labels = swap(manifest.labels as string[]);
  });
  const differences = await emotionDifferences(await loadModels(folder), folder);
  t.is(differences.length, 1);
  t.regex(differences[0] ?? '', /^emotion labels: /);
});

test('two labels swapped in the graph: the golden check detects it', async (t) => {
  const models = await loadModels('models/standard');
  const { session } = models.emotion;
  const run: typeof session.run = async (inputs) => {
    const outputs = await session.run(inputs);
    const { data, shape } = outputs.probabilities as Values;
    return { ...outputs, probabilities: { data: Float32Array.from(swap([...data])), shape } };
  };
  const wrong: Models = { ...models, emotion: { ...models.emotion, session: { ...session, run } } };
  const differences = await emotionDifferences(wrong, 'models/standard');
  t.true(
    differences.some((text) => text.startsWith(`emotion probabilities[${sad}]`)),
    differences.join('\n'),
  );
});

test('the same wrong feature spec in both models that read features: the golden check detects it', async (t) => {
  const folder = await copyModels(t);
  for (const name of ['vad', 'trunk']) {
    await editManifest(folder, name, (manifest) => {
      (manifest.features as Json).melScale = 'htk';
    });
  }
  const models = await loadModels(folder);
  for (const name of kinds)
    t.not((await goldenDifferences(models, await readGolden(folder, name), name)).length, 0, name);
});

test('a wrong number of frames per token: the warm-up refuses it', async (t) => {
  const folder = await withManifest(t, 'trunk', (manifest) => {
    (manifest.params as Json).framesPerToken = 4;
  });
  const analyzer = await createAnalyzer({ modelsDir: folder, limits });
  const error = await t.throwsAsync(analyzer.warm(), { instanceOf: ModelError });
  t.is(error?.message, 'Model trunk: Expected 250 tokens of 1000 frames, got 500');
});

for (const name of kinds) {
  test(`one changed byte of the weights of ${name}: the loader refuses it`, async (t) => {
    const folder = await copyModels(t);
    await editWeights(folder, name, (weights) => {
      weights[weights.length >> 1] = (weights[weights.length >> 1] as number) ^ 1;
    });
    const error = await t.throwsAsync(loadModels(folder), { instanceOf: ModelError });
    t.regex(error?.message ?? '', new RegExp(`Model ${name}: Expected .* for \`weights.sha256\``));
  });
}

test('changed weights under a renewed hash: the golden check detects it', async (t) => {
  const folder = await copyModels(t);
  await editWeights(folder, 'emotion', (weights) => {
    // One float in the middle: bit 6 of its highest byte multiplies it by 2^64 or more.
    const middle = weights.length >> 1;
    for (let at = middle; at < middle + 4; at++) weights[at] = (weights[at] as number) ^ 0x40;
  });
  await renewHash(folder, 'emotion');
  t.not((await emotionDifferences(await loadModels(folder), folder)).length, 0);
});
