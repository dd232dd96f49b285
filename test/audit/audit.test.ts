import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { compareFigures } from '../../src/audit/figures.ts';
import { modelSets } from '../../src/runtime/paths.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { copyModels, editManifest, type Json } from '../support/models.ts';

const report = () => join(makeFolder(), 'audit.md');

for (const models of modelSets) {
  test(`the shipped models pass: ${models}`, async (t) => {
    const file = report();
    const { code, stdout, stderr } = await runCli(['audit', '--models', models, '--out', file]);
    t.deepEqual(
      { code, stdout, stderr },
      { code: 0, stdout: `passed: ${file}\n`, stderr: 'goldens ...\nrecordings ...\n' },
    );
    const text = readFileSync(file, 'utf8');
    t.regex(text, /^# Audit of Undertone \S+, \d{4}-\d\d-\d\dT/);
    t.is(text.match(/\| agrees \|/g)?.length, 4);
    t.is(text.match(/\.flac \| (identical|within tolerance)/g)?.length, 5);
    t.true(text.includes('Not run: no labelled recordings (`--data`).'));
  });
}

test('the report is named after its day by default', async (t) => {
  const cwd = makeFolder();
  const { stdout } = await runCli(['audit'], { cwd });
  const [, name = ''] = /^passed: (undertone-audit-\d{4}-\d\d-\d\d\.md)\n$/.exec(stdout) ?? [];
  t.regex(readFileSync(join(cwd, name), 'utf8'), /^# Audit/);
});

test('a model that differs from its golden fails', async (t) => {
  const folder = await copyModels(t);
  for (const name of ['vad', 'trunk'])
    await editManifest(folder, name, (manifest) => {
      (manifest.features as Json).melScale = 'htk';
    });
  rmSync(join(folder, 'failures.json'));
  const file = report();
  const { code, stdout } = await runCli(['audit', '--out', file], { env: { UNDERTONE_MODELS_DIR: folder } });
  t.deepEqual([code, stdout], [1, `failed: ${file}\n`]);
  const text = readFileSync(file, 'utf8');
  t.regex(text, /\| trunk \|.*\| different: trunk tokens\[0\]: /);
  t.true(text.includes('Not run: these models have no `failures.json`.'));
});

test('another score of a recording fails, and is named', async (t) => {
  const folder = await copyModels(t);
  const answers = JSON.parse(readFileSync('models/standard/failures.json', 'utf8'));
  answers['words.flac'].emotion.signals.valence += 0.0021;
  answers['hurried.flac'].emotion.signals.valence += 0.0019;
  answers['synthetic.flac'].emotion.warnings.push('low_confidence');
  writeFileSync(join(folder, 'failures.json'), JSON.stringify(answers));
  const file = report();
  const { code } = await runCli(['audit', '--out', file], { env: { UNDERTONE_MODELS_DIR: folder } });
  t.is(code, 1);
  const text = readFileSync(file, 'utf8');
  t.regex(text, /\| words\.flac \| different: emotion\.signals\.valence by 0\.0021 \|/);
  t.regex(text, /\| hurried\.flac \| within tolerance: emotion\.signals\.valence by 0\.0019 \|/);
  t.regex(text, /\| synthetic\.flac \| different: emotion\.warnings\.0 in words \|/);
});

test('a folder without labelled recordings is a usage error', async (t) => {
  const data = makeFolder();
  const { code, stderr } = await runCli(['audit', '--data', data, '--out', report()]);
  t.is(code, 2);
  t.true(
    stderr.endsWith(`Expected a folder with index.csv for \`--data\`, got no ${join(data, 'index.csv')}\n`),
  );
});

test('figures are compared by model, figure and group', (t) => {
  const figure = { figure: 'UAR', group: 'A', value: 0.5, interval: null, speakers: 1, clips: 1 };
  const manifests = [
    { name: 'emotion', evidence: { figures: [figure, { ...figure, group: 'B' }] } },
    { name: 'vad', evidence: { figures: [figure] } },
  ] as unknown as Parameters<typeof compareFigures>[0];
  const measured = [
    { signal: 'vad', figure: 'UAR', group: 'A', value: 0.75 },
    { signal: 'emotion', figure: 'UAR', group: 'A', value: 0.25 },
  ];
  t.deepEqual(compareFigures(manifests, measured), [
    { model: 'emotion', figure: 'UAR', group: 'A', expected: 0.5, got: 0.25, difference: 0.25 },
    { model: 'vad', figure: 'UAR', group: 'A', expected: 0.5, got: 0.75, difference: 0.25 },
  ]);
});
