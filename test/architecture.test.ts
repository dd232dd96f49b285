/** Rules of the tree. Biome checks the rest: `any`, default exports, function length, `process.env`, file names. */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import test from 'ava';
import { pythonTypes } from '../scripts/clients.ts';
import { modelSets } from '../src/node/paths.ts';
import { circlesOf, lazy, type SourceFile, wrongImports, wrongIncludes } from './support/import-rules.ts';

const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  encoding: 'utf8',
}).split('\n');
const code = tracked
  .filter((file) => /\.(ts|mjs|js|h|cc|c|py|css|sh)$/.test(file) && fs.existsSync(file))
  .filter((file) => !file.includes('third_party/') && file !== pythonTypes)
  .map((file): SourceFile => ({ path: file, text: fs.readFileSync(file, 'utf8') }));

/** A file and whether one of its imports breaks a rule. */
const importControls: readonly (readonly [string, string, boolean])[] = [
  ['src/engine/analyze.ts', "import { InferenceSession } from 'onnxruntime-node';", true],
  ['src/node/onnx.ts', "import { InferenceSession } from 'onnxruntime-node';", false],
  ['src/service/serve.ts', "const Koa = await import('koa');", true],
  ['src/service/workers/pool.ts', "export type { Router } from '@koa/router';", true],
  ['src/tools/cli.ts', "const addon = require('../../build/Release/undertone.node');", true],
  ['src/tools/cli.ts', "const addon = '../../build/Release/undertone.node';", true],
  ['src/node/paths.ts', "const addon = '../../build/Release/undertone.node';", false],
  ['src/engine/signals/emotion.ts', "import type { Config } from '../../service/config.ts';", true],
  ['src/engine/signals/emotion.ts', "import { readFileSync } from 'node:fs';", true],
  ['src/engine/signals/emotion.ts', "import { interval } from './intervals.ts';", false],
  ['src/engine/loader.ts', "import type { Addon } from '../node/addon.ts';", true],
  ['src/node/models.ts', "import { openModels } from '../engine/index.ts';", false],
  ['src/node/models.ts', "import { openModels } from '../engine/loader.ts';", true],
  ['src/tools/listen.ts', "import type { Session } from '../service/live/session.ts';", true],
  ['src/node/models.ts', "import type { Config } from '../service/config.ts';", true],
  ['src/service/trust.ts', "type Failure = import('../tools/serve.ts').Failure;", true],
  ['src/tools/serve.ts', "import { parseConfig } from '../service/config.ts';", false],
  ['src/service/api/document.ts', "import { createApp } from '../http/app.ts';", true],
  ['web/playground/report.ts', "import { reportSchemas } from '../../src/engine/report.ts';", true],
  ['web/playground/report.ts', "import type { CombinedReport } from '../../src/engine/report.ts';", false],
  ['web/playground/main.ts', "const { z } = await import('zod');", true],
  ['benchmarks/run.ts', "import { until } from '../test/support/wait.ts';", true],
  ['src/service/auth/accounts.ts', "import { createUsers } from './users.ts';", true],
  ['src/service/auth/accounts.ts', "import type { Users } from './users.ts';", false],
  ['src/service/auth/accounts.ts', "const { createUsers } = await import('./users.ts');", false],
  ['src/service/jobs/worker.ts', "import { openRedis } from '../redis.ts';", false],
  ['clients/typescript/src/client.ts', "import { x } from '../../../src/engine/report.ts';", true],
  ['clients/typescript/src/client.ts', "import fetch from 'node-fetch';", true],
];

for (const [index, [file, text, isWrong]] of importControls.entries()) {
  test(`${isWrong ? 'refuses' : 'allows'} in ${file}: ${text} [${index}]`, (t) => {
    t.is(wrongImports({ path: file, text }).length, isWrong ? 1 : 0);
  });
}

test('finds circles, of types too', (t) => {
  const files = [
    { path: 'src/engine/a.ts', text: "import type { B } from './b.ts';" },
    { path: 'src/engine/b.ts', text: "type C = import('./c.ts').C;" },
    { path: 'src/engine/c.ts', text: "const a = await import('./a.ts');" },
    { path: 'src/engine/d.ts', text: "import { a } from './a.ts';" },
  ];
  t.deepEqual(circlesOf(files), [['src/engine/a.ts', 'src/engine/b.ts', 'src/engine/c.ts']]);
});

test('no files of src import each other in a circle, types counted', (t) => {
  const files = code.filter(({ path: file }) => /^src\/.*\.ts$/.test(file));
  t.true(files.length > 100);
  t.deepEqual(circlesOf(files), []);
});

/** Files of the walks: `path` or `path` (function) in the numbered lists of docs/architecture.md. */
test('the files and functions of the walks exist', (t) => {
  const page = fs.readFileSync('docs/architecture.md', 'utf8');
  const steps = [...page.matchAll(/^\d+\. `([\w/-]+\.ts)`((?:,? `\w+`)*)/gm)];
  t.true(steps.length >= 40, `${steps.length} steps`);
  for (const [, file = '', functions = ''] of steps) {
    const text = fs.readFileSync(`src/${file}`, 'utf8');
    for (const [, name] of functions.matchAll(/`(\w+)`/g)) t.regex(text, new RegExp(`\\b${name}\\b`), file);
  }
});

test('the files and folders that are loaded on first use exist', (t) => {
  t.deepEqual(
    lazy.filter((path) => !fs.existsSync(path)),
    [],
  );
});

test('refuses includes of libraries outside their folder', (t) => {
  const include = (file: string, header: string) =>
    wrongIncludes({ path: file, text: `# include <${header}>\n` });
  t.is(include('native/core/dsp/features.cc', 'napi.h').length, 1);
  t.is(include('native/core/dsp/features.cc', 'kiss_fftr.h').length, 1);
  t.is(include('native/core/dsp/resample.cc', 'libavcodec/avcodec.h').length, 1);
  t.deepEqual(include('native/core/decode/decode.cc', 'libavcodec/avcodec.h'), []);
});

test('no file of the tree breaks a rule of imports', (t) => {
  const files = code.filter(({ path: file }) => file.endsWith('.ts'));
  t.true(files.length > 200);
  t.deepEqual(files.flatMap(wrongImports), []);
  t.deepEqual(code.filter(({ path: file }) => /^native\//.test(file)).flatMap(wrongIncludes), []);
});

test('src/service/serve.ts and src/tools/cli.ts alone end the process', (t) => {
  const ends = /\bprocess\.exit\(|from '(node:)?process'/;
  const files = code.filter(({ path: file }) => /^src\/(?!service\/serve\.ts|tools\/cli\.ts)/.test(file));
  t.deepEqual(
    files.filter(({ text }) => ends.test(text)).map(({ path: file }) => file),
    [],
  );
});

test('src/node/paths.ts alone has paths of the package', (t) => {
  const relative = /import\.meta\.resolve|new URL\([^)]*import\.meta\.url/;
  const found = code.filter(({ path: file, text }) => file.startsWith('src/') && relative.test(text));
  t.deepEqual(
    found.map(({ path: file }) => file),
    ['src/node/paths.ts'],
  );
});

test('file names state a content, in the case of their language', (t) => {
  const wrong = code.filter(({ path: file }) => {
    const name = path.basename(file);
    if (/(^|\/)(utils?|helpers?|common|misc)(\/|\.|$)/.test(file)) return true;
    return /^native\/.*\.(h|cc|c)$/.test(file) && !/^[a-z0-9]+(_[a-z0-9]+)*\.\w+$/.test(name);
  });
  t.deepEqual(
    wrong.map(({ path: file }) => file),
    [],
  );
});

type Weights = { readonly file: string; readonly sha256: string };
type Manifest = {
  readonly name: string;
  readonly weights: Weights;
  readonly params: { readonly severalSpeakers?: { readonly weights: Weights }; readonly base?: Weights };
  readonly trunk: { readonly name: string; readonly version: string; readonly sha256: string } | null;
};

const sha256 = (file: string): string => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

for (const set of modelSets.map((name) => `models/${name}`)) {
  const readManifest = (name: string): Manifest =>
    JSON.parse(fs.readFileSync(path.join(set, name, 'manifest.json'), 'utf8'));

  test(`each folder of ${set} holds a model whose weights are those of its manifest`, (t) => {
    const names = fs
      .readdirSync(set)
      .filter((name) => !['failures.json', 'example.json'].includes(name))
      .sort();
    t.deepEqual(names, ['cognitive', 'emotion', 'trunk', 'vad', 'voice']);
    for (const name of names) {
      const { weights, trunk, params } = readManifest(name);
      const graphs = [params.base, params.severalSpeakers?.weights, weights].filter(
        (one) => one !== undefined,
      );
      for (const graph of graphs) t.is(sha256(path.join(set, name, graph.file)), graph.sha256);
      const files = fs.readdirSync(path.join(set, name));
      const named = graphs.map(({ file }) => file);
      t.deepEqual(files.sort(), ['CARD.md', 'golden.json', 'manifest.json', ...named].sort());
      if (trunk) t.is(readManifest(trunk.name).weights.sha256, trunk.sha256);
    }
  });
}

test('the lock file names no registry host', (t) => {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const hosts = Object.entries<{ resolved?: string }>(lock.packages).filter(([, entry]) => entry.resolved);
  t.deepEqual(hosts, []);
});
