import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { copyFile, mkdir, rename, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { loadModels, readManifests } from '../../src/models/loader.ts';
import { ModelError } from '../../src/models/model-files.ts';
import { hasControls } from '../../src/runtime/control-characters.ts';
import { copyModels, editManifest, type Json, renewHash, withManifest } from '../support/models.ts';

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

const releasedKeys: Readonly<Record<string, string>> = {
  winLength: 'frameLength',
  hopLength: 'hop',
  nFft: 'fftLength',
  nMels: 'bins',
  nMfcc: 'coefficients',
  topDb: 'dynamicRange',
};

function withReleasedKeys(features: Json): Json {
  return Object.fromEntries(
    Object.entries(features).map(([key, value]) => [releasedKeys[key] ?? key, value]),
  );
}

/** Params that release 0.1.0 kept in its sources. */
const addedParams: Readonly<Record<string, readonly string[]>> = {
  activity: ['minTotalSpeechSeconds', 'warnings'],
  trunk: ['edgeSeconds', 'minWindowSpeechSeconds'],
  emotion: ['degradations', 'tone'],
  cognitive: ['degradations', 'measures', 'scriptedConfidence'],
};

test('a model folder of release 0.1.0 loads', async (t) => {
  const parent = await copyModels(t);
  const models = join(parent, 'models-fast');
  await mkdir(models);
  for (const name of ['trunk', 'emotion', 'cognitive']) await rename(join(parent, name), join(models, name));
  await rename(join(parent, 'vad'), join(models, 'activity'));
  for (const name of ['activity', 'trunk', 'emotion', 'cognitive']) {
    await editManifest(models, name, (manifest) => {
      const rule = manifest.params as Json;
      for (const key of addedParams[name] ?? []) delete rule[key];
      delete manifest.params;
      manifest.rule = rule;
      if (name === 'activity') Object.assign(manifest, { name, kind: name });
      if (manifest.features !== null) manifest.features = withReleasedKeys(manifest.features as Json);
    });
  }
  t.truthy(await loadModels(models));
  const paramsByKind = async (folder: string) =>
    Object.fromEntries((await readManifests(folder)).map(({ kind, params }) => [kind, params]));
  const shipped = await paramsByKind('models/standard');
  const tone = {
    lowArousal: 0.4,
    highArousal: 0.6,
    veryLowValence: 0.3,
    lowValence: 0.45,
    highValence: 0.55,
  };
  t.deepEqual(await paramsByKind(models), { ...shipped, emotion: { ...shipped.emotion, tone } });
});

test('the folders of release 0.1.0 name the shipped sets', async (t) => {
  for (const [old, now] of [
    ['models', 'models/standard'],
    ['models-fast', 'models/fast'],
  ] as const) {
    t.deepEqual(await readManifests(old), await readManifests(now));
  }
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
