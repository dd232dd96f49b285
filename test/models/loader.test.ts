/** Folders of models: what is refused, and faults that the loader or the golden check finds. */
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync } from 'node:fs';
import { copyFile, rm, truncate } from 'node:fs/promises';
import { join } from 'node:path';
import test from 'ava';
import { goldenDifferences } from '../../src/engine/golden.ts';
import { analyzerOf, combinedReport, defaultOptions, loadOnce, warmUp } from '../../src/engine/index.ts';
import { checkSet, kinds, type Models } from '../../src/engine/loader.ts';
import type { Manifest } from '../../src/engine/manifest.ts';
import { type FeatureSpec, ModelError, type Session, type Values } from '../../src/engine/platform.ts';
import { signals } from '../../src/engine/schema.ts';
import { hasControls } from '../../src/node/controls.ts';
import {
  createAnalyzer,
  loadModels,
  loadModelsForCores,
  readGolden,
  readManifests,
} from '../../src/node/models.ts';
import { openSession } from '../../src/node/onnx.ts';
import { modelSets, shippedModels } from '../../src/node/paths.ts';
import { limits, reporter } from '../support/analysis.ts';
import {
  copyModels,
  editManifest,
  editWeights,
  type Json,
  renewHash,
  withManifest,
} from '../support/models.ts';

/** Whose trunk reads features alone. */
const readsFeatures = 'models/fast';

const folders = modelSets.map((name) => `models/${name}`);
const sets = await Promise.all(folders.map(async (folder) => [folder, await loadModels(folder)] as const));

/** A trunk that reads filterbanks as well, whose spec differs from that of its features. */
const withFilterbanks = (changes: object, inputs: readonly string[]) => (m: Json) => {
  Object.assign(m, { inputs });
  Object.assign(m.params as Json, { filterbanks: { ...(m.features as Json), ...changes } });
};
const both = ['features', 'filterbanks'];

type Change = object | ((manifest: Json) => void);

/** Members of the manifest as they are written over, or what changes it. */
const refused: readonly (readonly [what: string, model: string, change: Change, message: RegExp])[] = [
  ['another features version', 'trunk', { featuresVersion: 2 }, /Expected 1 for `featuresVersion`, got 2/],
  [
    'a feature spec that another model does not share',
    'vad',
    { features: { hopLength: 80 } },
    /Model vad: Expected .* for `features`/,
  ],
  [
    'an unknown feature key',
    'trunk',
    { features: { dither: 1 } },
    /Model trunk: features: Unknown key "dither"/,
  ],
  [
    'a head of another trunk',
    'emotion',
    { trunk: { sha256: '0'.repeat(64) } },
    /Model emotion: Expected .* for `trunk`/,
  ],
  [
    'another network of voices',
    'trunk',
    { params: { severalSpeakers: { weights: { sha256: '0'.repeat(64) } } } },
    /Model trunk: Expected "0{64}" for `weights.sha256`/,
  ],
  [
    'filterbanks that its graph does not read',
    'trunk',
    withFilterbanks({}, ['features']),
    /Model trunk: Expected \["features","filterbanks"\] for `inputs`, got \["features"\]/,
  ],
  [
    'a trunk that declares no input',
    'trunk',
    { inputs: [] },
    /Model trunk: manifest.json: Too small: .* at inputs/,
  ],
  [
    'a trunk that reads neither features nor the filterbanks that it declares',
    'trunk',
    withFilterbanks({}, ['tokens']),
    /Model trunk: Expected \["filterbanks"\] for `inputs`, got \["tokens"\]/,
  ],
  [
    'filterbanks of other frames',
    'trunk',
    withFilterbanks({ hopLength: 80 }, both),
    /Model trunk: Expected 160 for `filterbanks.hopLength`, got 80/,
  ],
  [
    'filterbanks of fewer frames',
    'trunk',
    withFilterbanks({ padding: 'none' }, both),
    /Model trunk: Expected 100 for `frames of filterbanks`, got 97/,
  ],
  [
    'filterbanks of other samples',
    'trunk',
    withFilterbanks({ highpassHz: 80 }, both),
    /Model trunk: Expected 64 for `filterbanks.highpassHz`, got 80/,
  ],
  ['other inputs', 'emotion', { inputs: ['tokens'] }, /Model emotion: Expected .* for `inputs`/],
  [
    'a key the schema does not know',
    'cognitive',
    { threshold: 1 },
    /Model cognitive: manifest.json: .*threshold/s,
  ],
  ['a rule without one of its bounds', 'vad', { params: { onset: undefined } }, /onset/],
];

function merge(into: Json, members: object): void {
  for (const [name, value] of Object.entries(members)) {
    if (typeof value === 'object' && !Array.isArray(value)) merge(into[name] as Json, value);
    else into[name] = value;
  }
}
const changeOf = (change: Change) => (m: Json) =>
  typeof change === 'function' ? change(m) : merge(m, change);

for (const [what, name, change, message] of refused) {
  test(`refused: ${what}`, async (t) => {
    const models = await withManifest(t, name, changeOf(change), readsFeatures);
    const error = await t.throwsAsync(loadModels(models), { instanceOf: ModelError });
    t.regex(error?.message ?? '', message);
  });
}

test('refused: a graph with readable external data', async (t) => {
  const models = await copyModels(t);
  await copyFile('test/models/external/graph.onnx', join(models, 'vad', 'weights.onnx'));
  await renewHash(models, 'vad');
  const error = await t.throwsAsync(loadModels(models), { instanceOf: ModelError });
  t.regex(
    error?.message ?? '',
    /^Model vad: Expected a self-contained ONNX file for \S+, got: Expected weights inside the file, got matrix in another$/,
  );
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
  t.is((await readManifests(link)).length, 5);
});

for (const [what, name, change, message] of [
  ['a terminal escape in a label', 'emotion', { labels: ['a\u001b[2J', 'b'] }, /a\\u001b\[2J/],
  ['a line break in a key', 'vad', { 'a\nb': 1 }, /a\\u000ab/],
  ['text that is read backwards', 'vad', { licence: 'a\u202eb' }, /a\\u202eb/],
  ['too many levels', 'vad', { x: JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`) }, /32 levels/],
  ['weights that are another file', 'vad', { weights: { file: 'CARD.md' } }, /weights\.file/],
] as const) {
  test(`refused: ${what}`, async (t) => {
    const models = await withManifest(t, name, changeOf(change));
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

// Faults injected into a copy of the shipped models: the loader or the golden check detects each.

const [one, other] = [3, 5];

function swap<T>(values: T[]): T[] {
  const swapped = [...values];
  [swapped[one], swapped[other]] = [values[other] as T, values[one] as T];
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
    differences.some((text) => text.startsWith(`emotion probabilities[${one}]`)),
    differences.join('\n'),
  );
});

test('the same wrong feature spec in both models that read features: the golden check detects it', async (t) => {
  const folder = await copyModels(t, readsFeatures);
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
  const change = (manifest: Json) => Object.assign(manifest.params as Json, { framesPerToken: 2 });
  const folder = await withManifest(t, 'trunk', change, readsFeatures);
  const analyzer = await createAnalyzer({ modelsDir: folder, limits });
  const error = await t.throwsAsync(warmUp(analyzer), { instanceOf: ModelError });
  t.is(error?.message, 'Model trunk: Expected 50 tokens of 100 frames, got 25');
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

test('a graph that fails while it runs: an error that names the file', async (t) => {
  const models = await loadModels(readsFeatures);
  const features = { data: new Float32Array(81), shape: [1, 1, 81] };
  const error = await t.throwsAsync(models.trunk.session.run({ features }), { instanceOf: ModelError });
  t.regex(error?.message ?? '', /^Model trunk: Expected a graph that runs in weights\.onnx, got: /);
});

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

// A trunk may read filterbanks alone.

test('a trunk of filterbanks alone gets no features', async (t) => {
  const folder = 'test/upgrade/1.0.0/models';
  const loaded = await loadModels(folder);
  const { manifest, session } = loaded.trunk;
  const given: string[][] = [];
  // The graph of this folder reads both: filterbanks stand in for its features.
  const ofFilterbanks: Session = {
    ...session,
    inputs: ['filterbanks'],
    run: (inputs) => {
      given.push(Object.keys(inputs));
      return session.run({ ...inputs, features: inputs.filterbanks as Values });
    },
  };
  const trunk = { manifest: { ...manifest, inputs: [...ofFilterbanks.inputs] }, session: ofFilterbanks };
  const models: Models = { ...loaded, trunk };
  const [analysis] = await analyzerOf(models, limits).analyze({
    ...defaultOptions,
    audio: readFileSync('examples/sample.wav'),
    baselines: [],
    signals,
    cancel: null,
  });
  t.is(combinedReport(analysis, 'test').emotion.status, 'ok');
  t.true(given.length > 0);
  for (const names of given) t.deepEqual(names, ['filterbanks']);
  given.length = 0;
  await goldenDifferences(models, await readGolden(folder, 'trunk'), 'trunk');
  t.deepEqual(given, [['filterbanks']]);
});

test('a report has the labels of the manifest, however many', async (t) => {
  for (const [folder, { emotion }] of sets) {
    const report = await (await reporter(folder))(readFileSync('examples/sample.wav'));
    t.deepEqual(Object.keys(report.emotion.signals.emotions), emotion.manifest.labels, folder);
    for (const { emotions } of report.emotion.timeline)
      t.deepEqual(Object.keys(emotions), emotion.manifest.labels, folder);
  }
});

test('a value is loaded once, and again after a failure', async (t) => {
  let calls = 0;
  const load = loadOnce(async () => {
    if (++calls === 1) throw new Error('unreadable');
    return calls;
  });
  await t.throwsAsync(load, { message: 'unreadable' });
  t.deepEqual([...(await Promise.all([load(), load()])), await load()], [2, 2, 2]);
});

test.serial('open models hold none of the bytes of their files', async (t) => {
  const before = process.memoryUsage().arrayBuffers;
  const models = await loadModels(shippedModels);
  t.true(process.memoryUsage().arrayBuffers - before < 2 ** 20);
  await models.voice?.load();
  t.true(process.memoryUsage().arrayBuffers - before < 2 ** 20);
});

test('files that changed after the models were opened: no voices, and one trunk instead of two', async (t) => {
  const folder = await copyModels(t);
  const { idle, busy } = await loadModelsForCores(folder, 2);
  for (const name of ['trunk', 'voice']) await truncate(join(folder, name, 'weights.onnx'), 1000);
  const changed = { instanceOf: ModelError, message: /Model \w+: Expected .* for `weights.sha256`, got/ };
  await t.throwsAsync(async () => idle.voice?.load(), changed);
  t.is((await busy()).trunk, idle.trunk);
});

// Sessions of ONNX Runtime.

const bins = 80;

test('the trunk has the same bits with every number of threads', async (t) => {
  const weights = readFileSync(join(shippedModels, 'trunk', 'weights.onnx'));
  const { inputs } = (await loadModels(shippedModels)).trunk.session;
  for (const frames of [1, 203, 1000]) {
    const data = Float32Array.from({ length: frames * bins }, (_, index) => Math.sin(index * index) - 3);
    const run = async (threads: number) => {
      const session = await openSession(weights, threads);
      const values = Object.fromEntries(inputs.map((name) => [name, { data, shape: [1, frames, bins] }]));
      return ((await session.run(values)).tokens as Values).data;
    };
    const alone = await run(1);
    for (const threads of [2, 3, 4]) t.deepEqual(await run(threads), alone, `${frames} frames, ${threads}`);
  }
});

for (const [folder, loaded] of sets) {
  for (const name of kinds) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, await readGolden(folder, name), name), []);
    });
  }
}

test('a voice model joins models that another filter precedes, but not those of other frames', async (t) => {
  const change = (field: 'highpassHz' | 'hopLength', value: number | undefined) => (manifest: Manifest) =>
    manifest.kind === 'vad' || manifest.kind === 'trunk'
      ? { ...manifest, features: { ...manifest.features, [field]: value } as FeatureSpec }
      : manifest;
  const manifests = await readManifests(shippedModels);
  t.notThrows(() => checkSet(manifests.map(change('highpassHz', undefined))));
  t.throws(() => checkSet(manifests.map(change('hopLength', 80))), {
    message: 'Model voice: Expected 80 for `features.hopLength`, got 160',
  });
});
