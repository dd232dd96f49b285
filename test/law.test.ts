import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import test from 'ava';
import {
  anyLaw,
  clientLaw,
  defaultExportLaw,
  includeLaw,
  lateLaw,
  lengthLaw,
  nameLaw,
  packageLaw,
  processLaw,
  type Rule,
  rules,
  signalsLaw,
  webLaw,
} from './support/law.ts';

const code = /\.(ts|mjs|js|h|cc|c|py|css|sh)$/;
const folders = ['src', 'native', 'test', 'benchmarks', 'scripts', 'training', 'clients', 'deploy', 'web'];
const ignored = new Set(['node_modules', 'build', 'dist', '__pycache__', 'third_party']);

function filesUnder(folder: string): string[] {
  if (!fs.existsSync(folder)) return [];
  return fs.readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory())
      return ignored.has(entry.name) || entry.name.startsWith('.') ? [] : filesUnder(file);
    return code.test(entry.name) ? [file] : [];
  });
}

/** Each planted file breaks the law exactly as often as the number says. */
const planted: readonly (readonly [Rule, string, string, number])[] = [
  [packageLaw, 'src/analysis/analyze.ts', "import { InferenceSession } from 'onnxruntime-node';", 1],
  [packageLaw, 'src/models/session.ts', "import { InferenceSession } from 'onnxruntime-node';", 0],
  [packageLaw, 'src/serve.ts', "const Koa = await import('koa');", 1],
  [packageLaw, 'src/workers/analysis-thread.ts', "export type { Router } from '@koa/router';", 1],
  [packageLaw, 'src/http/app.ts', "import Koa from 'koa'; import Router from '@koa/router';", 0],
  [packageLaw, 'src/cli.ts', "const addon = require('../build/Release/undertone.node');", 1],
  [packageLaw, 'src/cli.ts', "const addon = '../build/Release/undertone.node';", 1],
  [packageLaw, 'src/audio/addon.ts', "const addon = require('../build/Release/undertone.node');", 0],
  [includeLaw, 'native/core/dsp/mel.cc', '#include <napi.h>\n', 1],
  [includeLaw, 'native/addon/addon.cc', '#include <napi.h>\n', 0],
  [includeLaw, 'native/core/dsp/mel.cc', '# include "kiss_fftr.h"\n', 1],
  [includeLaw, 'native/core/dsp/fft.cc', '#include "kiss_fftr.h"\n', 0],
  [includeLaw, 'native/core/dsp/resample.cc', 'extern "C" {\n#include <libavcodec/avcodec.h>\n}\n', 1],
  [includeLaw, 'native/core/decode/decode.cc', '#include <libavcodec/avcodec.h>\n', 0],
  [signalsLaw, 'src/analysis/signals/tone.ts', "import type { Config } from '../../runtime/config.ts';", 1],
  [signalsLaw, 'src/analysis/signals/tone.ts', "import { readFileSync } from 'node:fs';", 1],
  [signalsLaw, 'src/analysis/signals/tone.ts', "import { pool } from './pooling.ts';", 0],
  [
    webLaw,
    'web/playground/report.ts',
    "import { combinedReportSchema } from '../../src/analysis/report.ts';",
    1,
  ],
  [
    webLaw,
    'web/playground/report.ts',
    "import type { CombinedReport } from '../../src/analysis/report.ts';",
    0,
  ],
  [webLaw, 'web/playground/report.ts', "export { type Report } from '../../src/analysis/report.ts';", 1],
  [webLaw, 'web/playground/main.ts', "import { readFileSync } from 'node:fs'; import { z } from 'zod';", 2],
  [webLaw, 'web/account/main.ts', "const { z } = await import('zod');", 1],
  [webLaw, 'web/playground/main.ts', "import uPlot from 'uplot'; import { part } from './dom.ts';", 0],
  [packageLaw, 'src/auth/accounts.ts', "import { betterAuth } from 'better-auth';", 1],
  [packageLaw, 'src/http/routes/account.ts', "import { sql } from 'kysely';", 1],
  [packageLaw, 'src/auth/users.ts', "import { APIError } from 'better-auth/api';", 0],
  [lateLaw, 'src/auth/accounts.ts', "import { createUsers } from './users.ts';", 1],
  [lateLaw, 'src/auth/accounts.ts', "import type { Users } from './users.ts';", 0],
  [lateLaw, 'src/auth/accounts.ts', "const { createUsers } = await import('./users.ts');", 0],
  [lateLaw, 'src/serve.ts', "import { openPostgres } from './db/postgres.ts';", 1],
  [lateLaw, 'src/serve.ts', "import { openJobs } from './jobs/jobs.ts';", 1],
  [lateLaw, 'src/jobs/worker.ts', "import { openRedis } from '../runtime/redis.ts';", 0],
  [packageLaw, 'src/http/routes/jobs.ts', "import { Queue } from 'bullmq';", 1],
  [packageLaw, 'src/jobs/queues.ts', "import { Redis } from 'ioredis';", 1],
  [clientLaw, 'clients/typescript/src/client.ts', "import { x } from '../../../src/analysis/report.ts';", 1],
  [clientLaw, 'clients/typescript/src/client.ts', "import fetch from 'node-fetch';", 1],
  [clientLaw, 'clients/typescript/src/client.ts', "const fs = await import('node:fs');", 0],
  [processLaw, 'src/runtime/config.ts', "const port = process.env['PORT'];", 1],
  [processLaw, 'src/runtime/config.ts', "const port = process['env'].PORT;", 1],
  [processLaw, 'src/runtime/config.ts', 'const { env } = globalThis.process;', 1],
  [processLaw, 'src/runtime/config.ts', "import { exit } from 'node:process';", 1],
  [processLaw, 'src/runtime/config.ts', 'process.exit(1);', 1],
  [processLaw, 'src/serve.ts', 'process.exit(process.env.CODE);', 0],
  [
    processLaw,
    'src/runtime/config.ts',
    'const rss = process.memoryUsage(); const env = { PORT: 1 }; env.PORT;',
    0,
  ],
  [anyLaw, 'test/x.test.ts', 'const x = y as any;', 1],
  [anyLaw, 'test/x.test.ts', "const any = 'any'; // any", 0],
  [defaultExportLaw, 'src/x.ts', 'export default 1;', 1],
  [defaultExportLaw, 'src/x.ts', 'export default function f() {}', 1],
  [defaultExportLaw, 'src/x.ts', 'export { f as default };', 1],
  [defaultExportLaw, 'src/x.ts', 'switch (x) { default: f(); }', 0],
  [lengthLaw, 'src/x.ts', '\n'.repeat(401), 1],
  [lengthLaw, 'src/x.ts', '\n'.repeat(400), 0],
  [nameLaw, 'src/http/utils.ts', '', 1],
  [nameLaw, 'src/fooBar.ts', '', 1],
  [nameLaw, 'native/core/dsp/melBank.cc', '', 1],
  [nameLaw, 'src/foo-bar.ts', '', 0],
];

for (const [rule, file, text, count] of planted) {
  const title = `${count === 0 ? 'allows' : 'refuses'} in ${file}: ${text.trim().slice(0, 70) || 'its name or length'}`;
  test(`${title} [${planted.findIndex((one) => one[1] === file && one[2] === text)}]`, (t) => {
    t.is(rule({ path: file, text }).length, count);
  });
}

test('the tree keeps its rules', (t) => {
  const files = folders.flatMap(filesUnder);
  t.true(files.includes('src/runtime/errors.ts') && files.includes('test/law.test.ts'));
  const broken = files.flatMap((file) => {
    const text = fs.readFileSync(file, 'utf8');
    return rules.flatMap((rule) => rule({ path: file, text }));
  });
  t.deepEqual(broken, []);
});

type Manifest = {
  readonly name: string;
  readonly weights: { readonly file: string; readonly sha256: string };
  readonly trunk: { readonly name: string; readonly version: string; readonly sha256: string } | null;
};

const readManifest = (name: string): Manifest =>
  JSON.parse(fs.readFileSync(path.join('models/standard', name, 'manifest.json'), 'utf8'));

const sha256 = (file: string): string => createHash('sha256').update(fs.readFileSync(file)).digest('hex');

for (const name of ['trunk', 'vad', 'emotion', 'cognitive']) {
  test(`models/standard/${name} holds the weights that its manifest names`, (t) => {
    const { weights, trunk } = readManifest(name);
    t.is(sha256(path.join('models/standard', name, weights.file)), weights.sha256);
    t.deepEqual(fs.readdirSync(path.join('models/standard', name)).sort(), [
      'CARD.md',
      'golden.json',
      'manifest.json',
      weights.file,
    ]);
    if (trunk) t.is(readManifest(trunk.name).weights.sha256, trunk.sha256);
  });
}

test('every model folder is one of those', (t) => {
  t.deepEqual(fs.readdirSync('models/standard').sort(), ['cognitive', 'emotion', 'trunk', 'vad']);
});

test('the lock file names no registry host', (t) => {
  const lock = JSON.parse(fs.readFileSync('package-lock.json', 'utf8'));
  const hosts = Object.entries<{ resolved?: string }>(lock.packages).filter(([, entry]) => entry.resolved);
  t.deepEqual(hosts, []);
});
