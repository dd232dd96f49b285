import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { copyFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { ModelError } from '../../src/engine/platform.ts';
import { hasControls } from '../../src/node/files.ts';
import { loadModels, readManifests } from '../../src/node/models.ts';
import { copyModels, type Json, renewHash, withManifest } from '../support/models.ts';

const refused: readonly (readonly [string, string, (manifest: Json) => void, RegExp])[] = [
  [
    'another features version',
    'trunk',
    (m) => Object.assign(m, { featuresVersion: 2 }),
    /Expected 1 for `featuresVersion`, got 2/,
  ],
  [
    'a feature spec that another model does not share',
    'vad',
    (m) => Object.assign(m.features as Json, { hopLength: 80 }),
    /Model vad: Expected .* for `features`/,
  ],
  [
    'an unknown feature key',
    'trunk',
    (m) => Object.assign(m.features as Json, { dither: 1 }),
    /Model trunk: features: Unknown key "dither"/,
  ],
  [
    'a head of another trunk',
    'emotion',
    (m) => Object.assign(m.trunk as Json, { sha256: '0'.repeat(64) }),
    /Model emotion: Expected .* for `trunk`/,
  ],
  [
    'another network of voices',
    'trunk',
    (m) =>
      Object.assign(((m.params as Json).severalSpeakers as Json).weights as Json, { sha256: '0'.repeat(64) }),
    /Model trunk: Expected "0{64}" for `weights.sha256`/,
  ],
  [
    'filterbanks that its graph does not read',
    'trunk',
    (m) => Object.assign(m.params as Json, { filterbanks: { ...(m.features as Json) } }),
    /Model trunk: Expected \["features","filterbanks"\] for `inputs`, got \["features"\]/,
  ],
  [
    'filterbanks of other frames',
    'trunk',
    (m) => {
      const filterbanks = { ...(m.features as Json), hopLength: 80 };
      Object.assign(m, { inputs: ['features', 'filterbanks'] });
      Object.assign(m.params as Json, { filterbanks });
    },
    /Model trunk: Expected 160 for `filterbanks.hopLength`, got 80/,
  ],
  [
    'filterbanks of fewer frames',
    'trunk',
    (m) => {
      const filterbanks = { ...(m.features as Json), padding: 'none' };
      Object.assign(m, { inputs: ['features', 'filterbanks'] });
      Object.assign(m.params as Json, { filterbanks });
    },
    /Model trunk: Expected 100 for `frames of filterbanks`, got 97/,
  ],
  [
    'other inputs',
    'emotion',
    (m) => Object.assign(m, { inputs: ['tokens'] }),
    /Model emotion: Expected .* for `inputs`/,
  ],
  [
    'a key the schema does not know',
    'cognitive',
    (m) => Object.assign(m, { threshold: 1 }),
    /Model cognitive: manifest.json: .*threshold/s,
  ],
  [
    'a rule without one of its bounds',
    'vad',
    (m) => Object.assign(m.params as Json, { onset: undefined }),
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

test('refused: a graph with readable external data', async (t) => {
  const models = await copyModels(t);
  await copyFile('test/models/external/graph.onnx', join(models, 'vad', 'weights.onnx'));
  await renewHash(models, 'vad');
  const error = await t.throwsAsync(loadModels(models), { instanceOf: ModelError });
  t.regex(error?.message ?? '', /^Model vad: Expected a self-contained ONNX file, got: .*External data/);
});

for (const file of ['manifest.json', 'weights.onnx']) {
  test(`refused: a folder without ${file}`, async (t) => {
    const models = await copyModels(t);
    await rm(join(models, 'vad', file));
    const message = `Model vad: Expected a readable file ${file}, got ENOENT`;
    await t.throwsAsync(loadModels(models), { instanceOf: ModelError, message });
  });
}

test('refused: a missing kind and a missing folder', async (t) => {
  const models = await copyModels(t);
  await rm(join(models, 'emotion'), { recursive: true });
  await t.throwsAsync(loadModels(models), { message: 'Expected one model of kind emotion, got 0' });
  const absent = join(models, 'absent');
  await t.throwsAsync(loadModels(absent), { instanceOf: ModelError, message: /which cannot be read/ });
});

for (const [what, change, got] of [
  ['a link among the models', (models) => symlinkSync('trunk', join(models, 'more')), 'a symbolic link'],
  ['a link in a model', (models) => symlinkSync('CARD.md', join(models, 'vad', 'more')), 'a symbolic link'],
  [
    'a pipe in a model',
    (models) => execFileSync('mkfifo', [join(models, 'vad', 'more')]),
    'a device, pipe or socket',
  ],
] as const satisfies readonly (readonly [string, (models: string) => unknown, string])[]) {
  test(`refused: ${what}`, async (t) => {
    const models = await copyModels(t);
    change(models);
    const error = await t.throwsAsync(readManifests(models), { instanceOf: ModelError });
    t.regex(error?.message ?? '', new RegExp(`^Model \\S+: Expected a .*more, got ${got}$`));
  });
}

test('a link to the folder of the models is the choice of who names it', async (t) => {
  const link = `${await copyModels(t)}-link`;
  symlinkSync(link.replace(/-link$/, ''), link);
  t.teardown(() => rm(link));
  t.is((await readManifests(link)).length, 4);
});

for (const [what, name, change, message] of [
  [
    'a terminal escape in a label',
    'emotion',
    (m) => Object.assign(m, { labels: ['a\u001b[2J', 'b'] }),
    /a\\u001b\[2J/,
  ],
  ['a line break in a key', 'vad', (m) => Object.assign(m, { 'a\nb': 1 }), /a\\u000ab/],
  ['text that is read backwards', 'vad', (m) => Object.assign(m, { licence: 'a\u202eb' }), /a\\u202eb/],
  [
    'too many levels',
    'vad',
    (m) => Object.assign(m, { x: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) }),
    /32 levels/,
  ],
  [
    'weights that are another file',
    'vad',
    (m) => Object.assign(m.weights as Json, { file: 'CARD.md' }),
    /weights\.file/,
  ],
] as const satisfies readonly (readonly [string, string, (manifest: Json) => void, RegExp])[]) {
  test(`refused: ${what}`, async (t) => {
    const models = await withManifest(t, name, change);
    const error = await t.throwsAsync(readManifests(models), { instanceOf: ModelError });
    t.regex(error?.message ?? '', message);
    t.false(hasControls((error?.message ?? '').replaceAll('\n', '')));
  });
}

test('refused: a manifest that is too long to be one', async (t) => {
  const models = await copyModels(t);
  await truncate(join(models, 'vad', 'manifest.json'), 2 ** 23);
  const error = await t.throwsAsync(readManifests(models), { instanceOf: ModelError });
  t.is(
    error?.message,
    'Model vad: Expected a readable file manifest.json, got 8388608 bytes, more than 4194304',
  );
});
