import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { loadModels, ModelError, readManifests } from '../../src/models/loader.ts';
import { copyModels, type Json, renewHash, withManifest } from '../support/models.ts';

test('the shipped set loads: one model of each kind', async (t) => {
  const manifests = await readManifests('models');
  t.deepEqual(manifests.map(({ kind }) => kind).sort(), ['activity', 'cognitive', 'emotion', 'trunk']);
  t.truthy(await loadModels('models'));
});

const refused: readonly (readonly [string, string, (manifest: Json) => void, RegExp])[] = [
  [
    'another features version',
    'trunk',
    (m) => {
      m.featuresVersion = 2;
    },
    /Expected 1 for `featuresVersion`, got 2/,
  ],
  [
    'a feature spec that another model does not share',
    'activity',
    (m) => {
      (m.features as Json).hop = 80;
    },
    /Model activity: Expected .* for `features`/,
  ],
  [
    'an unknown feature key',
    'trunk',
    (m) => {
      (m.features as Json).dither = 1;
    },
    /Model trunk: features: Expected/,
  ],
  [
    'a head of another trunk',
    'emotion',
    (m) => {
      (m.trunk as Json).sha256 = '0'.repeat(64);
    },
    /Model emotion: Expected .* for `trunk`/,
  ],
  [
    'other inputs',
    'emotion',
    (m) => {
      m.inputs = ['tokens'];
    },
    /Model emotion: Expected .* for `inputs`/,
  ],
  [
    'a key the schema does not know',
    'cognitive',
    (m) => {
      m.threshold = 1;
    },
    /Model cognitive: manifest.json: .*threshold/s,
  ],
  [
    'a rule without one of its bounds',
    'activity',
    (m) => {
      (m.rule as Json).onset = undefined;
    },
    /onset/,
  ],
];

for (const [what, name, change, message] of refused) {
  test(`refused: ${what}`, async (t) => {
    const models = await withManifest(t, name, change);
    const error = await t.throwsAsync(loadModels(models), { instanceOf: ModelError });
    t.regex(error?.message ?? '', message);
  });
}

test('refused: a graph whose values lie outside it, though they could be read', async (t) => {
  const models = await copyModels(t);
  await copyFile('test/models/external/graph.onnx', join(models, 'activity', 'weights.onnx'));
  await renewHash(models, 'activity');
  const error = await t.throwsAsync(loadModels(models), { instanceOf: ModelError });
  t.regex(error?.message ?? '', /^Model activity: Expected a self-contained ONNX file, got: .*External data/);
});

for (const file of ['manifest.json', 'weights.onnx']) {
  test(`refused: a folder without ${file}`, async (t) => {
    const models = await copyModels(t);
    await rm(join(models, 'activity', file));
    const message = `Model activity: Expected a readable file ${file}, got ENOENT`;
    await t.throwsAsync(loadModels(models), { instanceOf: ModelError, message });
  });
}

test('refused: a missing kind and a folder that is not there', async (t) => {
  const models = await copyModels(t);
  await rm(join(models, 'emotion'), { recursive: true });
  await t.throwsAsync(loadModels(models), { message: 'Expected one model of kind emotion, got 0' });
  const absent = join(models, 'absent');
  await t.throwsAsync(loadModels(absent), { instanceOf: ModelError, message: /which cannot be read/ });
});
