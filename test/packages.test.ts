/** The published packages, as far as they are known without building them. */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import test from 'ava';
import ts from 'typescript';
import { decoders, demuxers } from '../scripts/prebuild/libraries.ts';
import {
  addonManifest,
  mainManifest,
  readManifest,
  runtimeDependencies,
  runtimeManifest,
  shrinkwrap,
  thirdPartyNotices,
} from '../scripts/prebuild/packages.ts';
import { version } from '../src/node/paths.ts';
import { asyncApiDocument, openApiDocument } from '../src/service/api/document.ts';
import { makeFolder } from './support/folder.ts';
import { words } from './support/words.ts';

const root = readManifest();
const main = mainManifest(root);

test('the package is public, has no script and the locked versions', (t) => {
  t.deepEqual(
    ['private', 'scripts', 'devDependencies', 'binary', 'overrides'].filter((field) => field in main),
    [],
  );
  t.like(main, {
    name: 'undertone',
    version: root.version,
    type: 'module',
    bin: { undertone: 'dist/src/cli.js' },
  });
  for (const [name, version] of Object.entries(main.dependencies))
    t.is(version, root.dependencies[name], name);
});

test('the notices of the weights are in the package, and name every corpus of CC BY and ODbL of their cards', (t) => {
  t.true(main.files.includes('NOTICE'));
  const notice = readFileSync('NOTICE', 'utf8');
  for (const set of ['standard', 'large', 'fast'])
    for (const kind of ['vad', 'emotion', 'cognitive']) {
      const { training } = JSON.parse(readFileSync(`models/${set}/${kind}/manifest.json`, 'utf8'));
      for (const { name, licence } of training.data as { name: string; licence: string }[])
        if (/^(CC BY|ODbL)/.test(licence))
          t.true(notice.includes(noticeNames[name] ?? name), `${set}/${kind}: ${name} (${licence})`);
    }
});

/** Corpora that NOTICE names otherwise. */
const noticeNames: Readonly<Record<string, string>> = {
  LibriSpeechMany: 'LibriSpeech',
  FLEURSSamples: 'FLEURS',
  ArabicCommands: 'Arabic Speech Commands',
  VCTKSamples: 'VCTK',
  ESC10: 'ESC-10',
};

/** Where the version of package.json stands again. */
const stated: Readonly<Record<string, readonly RegExp[]>> = {
  'package-lock.json': [/^ {2}"version": "(.*)"/m, /^ {6}"version": "(.*)"/m],
  'CITATION.cff': [/^version: (.*)$/m],
  'CHANGELOG.md': [/^## (\d\S*) \(/m],
  'clients/typescript/package.json': [/^ {2}"version": "(.*)"/m],
  'clients/python/pyproject.toml': [/^version = "(.*)"$/m],
  'clients/python/examples/livekit/pyproject.toml': [/^version = "(.*)"$/m],
  'clients/python/examples/pipecat/pyproject.toml': [/^version = "(.*)"$/m],
  'deploy/compose/compose.yaml': [/^ {2}image: undertone:(.*)$/m, /tagged undertone:(\S+),/],
  'deploy/kubernetes/undertone.yaml': [/^ +image: undertone:(.*)$/m],
  'docs/operations.md': [/with the tag `undertone:(.*)`/],
};

for (const [file, patterns] of Object.entries(stated))
  test(`${file} states the version of package.json`, (t) => {
    const text = readFileSync(file, 'utf8');
    for (const pattern of patterns) t.is(pattern.exec(text)?.[1], root.version, String(pattern));
  });

test('the documents of the API have the version, and the citation the date of the release', (t) => {
  for (const describe of [openApiDocument, asyncApiDocument])
    t.like(describe(version), { info: { version: root.version } });
  const [, released] = /^## \d\S* \((.*)\)$/m.exec(readFileSync('CHANGELOG.md', 'utf8')) ?? [];
  const [, cited] = /^date-released: (.*)$/m.exec(readFileSync('CITATION.cff', 'utf8')) ?? [];
  t.regex(released ?? '', /^\d{4}-\d{2}-\d{2}$/);
  t.is(cited, released);
});

test('native code is optional and has the version of the package', (t) => {
  t.deepEqual(main.optionalDependencies, {
    '@undertone/linux-x64': root.version,
    '@undertone/onnxruntime-linux-x64': root.version,
    '@undertone/linux-arm64': root.version,
    '@undertone/onnxruntime-linux-arm64': root.version,
  });
});

test('native packages install on their platform alone', (t) => {
  const platform = { os: ['linux'], cpu: ['arm64'], libc: ['glibc'], version: root.version };
  const manifest = addonManifest(root, 'arm64');
  t.like(manifest, { ...platform, main: 'undertone.node' });
  // The other addon of the package is loaded by its path.
  t.false('exports' in manifest);
  t.like(runtimeManifest(root, 'arm64', '1.2.3'), {
    ...platform,
    dependencies: { 'onnxruntime-common': '1.2.3' },
  });
});

test('the shrinkwrap has the locked version and hash of all that the package needs', async (t) => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'package'));
  writeFileSync(join(folder, 'package/package.json'), JSON.stringify(addonManifest(root, 'x64')));
  const archive = join(folder, 'native.tgz');
  execFileSync('tar', ['-czf', archive, '-C', folder, 'package']);
  const { packages } = shrinkwrap(main, [archive]) as { packages: Record<string, Record<string, unknown>> };
  const { packages: all } = JSON.parse(readFileSync('package-lock.json', 'utf8'));
  const { '': own, 'node_modules/@undertone/linux-x64': native, ...locked } = packages;
  t.like(own, { dependencies: main.dependencies, optionalDependencies: main.optionalDependencies });
  const hash = createHash('sha512').update(readFileSync(archive)).digest('base64');
  t.like(native, { resolved: 'file:native.tgz', integrity: `sha512-${hash}`, os: ['linux'], cpu: ['x64'] });
  for (const [path, entry] of Object.entries(locked)) {
    t.deepEqual(entry, all[path], path);
    t.regex(String(entry.integrity), /^sha512-/, path);
    for (const name of Object.keys({
      ...(entry.dependencies as object),
      ...(entry.optionalDependencies as object),
    }))
      t.true(`node_modules/${name}` in locked, `${path} needs ${name}`);
  }
  for (const name of [...runtimeDependencies, 'onnxruntime-common', 'sonic-boom'])
    t.true(`node_modules/${name}` in locked, name);
  t.false('node_modules/typescript' in locked || 'node_modules/koa' in locked);
  t.true(main.files.includes('npm-shrinkwrap.json'));
  const image = readFileSync('deploy/container/Containerfile', 'utf8');
  t.regex(image, /npm ci /);
  t.notRegex(image, /npm install/);
});

/** By statements: the bundle holds code samples as text. */
function importsOf(code: string): string[] {
  const { statements } = ts.createSourceFile('bundle.js', code, ts.ScriptTarget.Latest);
  return statements.flatMap((statement) => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return [];
    const { moduleSpecifier } = statement;
    return moduleSpecifier !== undefined && ts.isStringLiteral(moduleSpecifier) ? [moduleSpecifier.text] : [];
  });
}

test('the bundle imports its dependencies and nothing else', (t) => {
  const files = readdirSync('dist/src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.js'),
  );
  const imports = files.flatMap((name) => importsOf(readFileSync(`dist/src/${name}`, 'utf8')));
  const packages = new Set(imports.filter((target) => !/^[./]/.test(target) && !isBuiltin(target)));
  // zod is for the types of the package.
  t.deepEqual([...packages, 'zod'].sort(), [...runtimeDependencies].sort());
});

test('docs/start.md states the reason of each dependency', (t) => {
  const text = readFileSync('docs/start.md', 'utf8');
  for (const name of [...runtimeDependencies, 'onnxruntime-common'])
    t.true(text.includes(`| ${name} |`), name);
});

test('FFmpeg is built with the decoders and demuxers of the addon', (t) => {
  const source = readFileSync('native/core/decode/decoder.cc', 'utf8');
  t.is(decoders.length, source.match(/AV_CODEC_ID_\w+, "/g)?.length ?? 0);
  t.true(decoders.includes('adpcm_g722') && decoders.includes('pcm_mulaw'));
  t.deepEqual(demuxers, words`wav mp3 aac flac ogg matroska mov aiff caf amr au w64`);
});

test('the notices hold the licences of bundled packages', (t) => {
  const notices = thirdPartyNotices();
  for (const name of ['koa', 'better-auth', 'bullmq', 'zod', 'wavesurfer.js'])
    t.regex(notices, new RegExp(`^${name} \\d`, 'm'), name);
  t.notRegex(notices, /^typescript \d/m);
});
