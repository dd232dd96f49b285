/** Folders of adapted models from folders of strangers. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { goldenDifferences } from '../../src/engine/golden.ts';
import type { Models } from '../../src/engine/loader.ts';
import { ModelError } from '../../src/engine/platform.ts';
import { loadModels, readGolden } from '../../src/node/models.ts';
import { describeSoftware } from '../../src/service/compose-receipt.ts';
import { parseConfig } from '../../src/service/config.ts';
import { evidenceCards } from '../../src/service/http/routes/routes.ts';
import { trustPage } from '../../src/service/trust.ts';
import type { Adaptation } from '../../src/tools/adapt/adaptation.ts';
import { writeModels } from '../../src/tools/adapt/write-models.ts';
import { openScoresFile } from '../../src/tools/evaluate/scores.ts';
import { makeFolder } from '../support/folder.ts';
import { copyModels } from '../support/models.ts';

const adaptation: Adaptation = {
  labels: null,
  dimensions: {
    valence: {
      adaptation: { correction: { scale: 0.9, bias: Float64Array.of(0.01), weights: null }, widen: 1 },
      comparisons: [],
      kept: [],
      recordings: 30,
      speakers: 3,
    },
  },
  comparisons: [],
  speakers: 3,
  recordings: 30,
};
const source = {
  name: 'labels.csv',
  command: 'undertone adapt labels.csv --out ours',
  labelsSha256: 'a'.repeat(64),
};

async function adapted(t: ExecutionContext, change: (models: string, victim: string) => void) {
  const [models, folder] = [await copyModels(t), makeFolder()];
  const victim = join(folder, 'victim');
  writeFileSync(victim, 'as it was\n');
  change(models, victim);
  const before = readFileSync(victim);
  const out = join(folder, 'ours');
  const error = await writeModels(models, out, adaptation, source).then(
    () => null,
    (reason: unknown) => reason,
  );
  t.deepEqual(readFileSync(victim), before);
  return { error, out };
}

const recording = 'examples/sample.wav';
const trust = { recordings: [], keys: [], config: parseConfig({}) };

const parts = ['CARD.md', 'manifest.json', 'golden.json', 'weights.onnx'];
for (const part of parts) {
  test(`a link in the place of ${part} is refused, and its target stays as it was`, async (t) => {
    const { error, out } = await adapted(t, (models, victim) => {
      const file = join(models, 'emotion', part);
      renameSync(file, victim);
      symlinkSync(victim, file);
    });
    t.true(error instanceof ModelError, String(error));
    t.false(existsSync(out));
  });
}

test('a link in the place of a model is refused', async (t) => {
  const { error } = await adapted(t, (models) => {
    renameSync(join(models, 'emotion'), `${models}-emotion`);
    t.teardown(() => rmSync(`${models}-emotion`, { recursive: true }));
    symlinkSync(`${models}-emotion`, join(models, 'emotion'));
  });
  t.regex((error as Error).message, /: Expected a folder or file emotion, got a symbolic link$/);
});

test('the files of models alone are written', async (t) => {
  const { error, out } = await adapted(t, (models) => {
    writeFileSync(join(models, 'emotion', '.profile'), 'echo');
    mkdirSync(join(models, 'trunk', 'more'));
  });
  t.is(error, null);
  const names = ['CARD.md', 'golden.json', 'manifest.json', 'weights.onnx'];
  t.deepEqual(readdirSync(join(out, 'emotion')).sort(), ['CARD.md', 'correction.json', ...names.slice(1)]);
  t.deepEqual(readdirSync(join(out, 'trunk')).sort(), [...names.slice(0, 3), 'voice.onnx', 'weights.onnx']);
  t.deepEqual(
    readFileSync(join(out, 'cognitive', 'manifest.json')),
    readFileSync('models/standard/cognitive/manifest.json'),
  );
  t.regex(readFileSync(join(out, 'emotion', 'CARD.md'), 'utf8'), /^# emotion .*, adapted\n/);
});

test('models adapted to ratings of clarity name them', async (t) => {
  const { valence } = adaptation.dimensions;
  const ofClarity = { ...adaptation, dimensions: { clarity: valence as NonNullable<typeof valence> } };
  const out = join(makeFolder(), 'ours');
  await writeModels(await copyModels(t), out, ofClarity, source);
  const { cognitive } = await loadModels(out);
  t.is(
    cognitive.manifest.params.clarityRatedOn,
    'English sentences read aloud by Mandarin speakers, adapted to the ratings of labels.csv',
  );
});

test('the correction is a file next to weights that stay as they are, and the golden has its scores', async (t) => {
  const { out } = await adapted(t, () => {});
  const read = (folder: string, file: string) => readFileSync(join(folder, 'emotion', file));
  t.deepEqual(read(out, 'weights.onnx'), read('models/standard', 'weights.onnx'));
  t.deepEqual(JSON.parse(read(out, 'correction.json').toString()), {
    labels: null,
    scores: { valence: { scale: 0.9, bias: [0.01], weights: null } },
  });
  const { weights, correction } = JSON.parse(read(out, 'manifest.json').toString());
  t.deepEqual(weights, JSON.parse(read('models/standard', 'manifest.json').toString()).weights);
  const hash = createHash('sha256').update(read(out, 'correction.json')).digest('hex');
  t.deepEqual(correction, { file: 'correction.json', sha256: hash, labelsSha256: source.labelsSha256 });
  const valenceOf = (folder: string) =>
    JSON.parse(read(folder, 'golden.json').toString()).outputs.valence.values[0] as number;
  t.true(Math.abs(valenceOf(out) - (0.9 * valenceOf('models/standard') + 0.01)) < 1e-5);
  t.deepEqual(
    await goldenDifferences(await loadModels(out), await readGolden(out, 'emotion'), 'emotion'),
    [],
  );
  t.not(
    (
      await goldenDifferences(
        await loadModels('models/standard'),
        await readGolden(out, 'emotion'),
        'emotion',
      )
    ).length,
    0,
  );
});

test('labels that were fitted have no label relative to the speaker, whose prior is of the others', async (t) => {
  const relativeOf = (folder: string) =>
    JSON.parse(readFileSync(join(folder, 'emotion/manifest.json'), 'utf8')).params.relative;
  const { out } = await adapted(t, () => {});
  t.deepEqual(relativeOf(out), relativeOf('models/standard'));
  const labels = ['happy', 'sad'];
  const correction = { scale: 1, bias: new Float64Array(2), weights: null };
  const fitted = {
    ...adaptation,
    labels: { ...adaptation.dimensions.valence, adaptation: { labels, correction } },
  };
  const folder = join(makeFolder(), 'ours');
  await writeModels(await copyModels(t), folder, fitted as unknown as Adaptation, source);
  t.deepEqual(Object.keys(relativeOf(folder)), ['valence', 'arousal']);
});

test('other corrections are other models in receipts, in cards and for kept scores', async (t) => {
  const { out } = await adapted(t, () => {});
  const [own, other] = [await loadModels(out), await loadModels('models/standard')];
  const receiptOf = (models: Models) =>
    describeSoftware(models).models.find(({ name }) => name === 'emotion');
  t.is(receiptOf(own)?.version, receiptOf(other)?.version);
  t.not(receiptOf(own)?.sha256, receiptOf(other)?.sha256);
  const cardOf = ({ manifests }: Models) =>
    JSON.parse(evidenceCards(manifests)).models.find((card: { name: string }) => card.name === 'emotion');
  t.is(cardOf(own).weights_sha256, cardOf(other).weights_sha256);
  t.is(cardOf(own).correction_sha256, own.emotion.manifest.correction?.sha256);
  t.is(cardOf(other).correction_sha256, null);
  t.true(
    trustPage({ ...trust, manifests: own.manifests }).includes(cardOf(own).correction_sha256.slice(0, 16)),
  );
  const file = join(makeFolder(), 'scores.jsonl');
  const scores = await openScoresFile(file, other.manifests, false);
  await scores.add(recording, { report: {} } as never);
  t.true(await (await openScoresFile(file, other.manifests, false)).isCurrent(recording));
  t.false(await (await openScoresFile(file, own.manifests, false)).isCurrent(recording));
});

test('a card with a terminal escape is not copied', async (t) => {
  const { error, out } = await adapted(t, (models) =>
    writeFileSync(join(models, 'cognitive', 'CARD.md'), '# a\n\u001b]0;b\u0007\n'),
  );
  t.is(
    (error as Error).message,
    'Model cognitive: Expected a CARD.md without control characters, got one with',
  );
  t.false(existsSync(out));
});

test('text of a manifest cannot leave its line in the card', async (t) => {
  const { error } = await adapted(t, (models) => {
    const path = join(models, 'emotion', 'manifest.json');
    const manifest = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...manifest, description: 'Emotion\ntouch /tmp/owned\n#' }));
  });
  t.is(
    (error as Error).message,
    'Model emotion: manifest.json: Expected text without control characters, got "Emotion\\u000atouch /tmp/owned\\u000a#"',
  );
});
