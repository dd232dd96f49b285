/**
 * Builds the tests as rolldown.config.mjs builds the service, then runs the builds. AVA starts a process per file, in
 * which loading sources and packages one by one would take longer than most tests.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import service from './rolldown.config.mjs';

const folder = 'build/ava';
const threads = ['test/support/thread.ts', 'test/support/crashing-upload-thread.ts'];
const names = readdirSync('test', { recursive: true }).filter((name) => name.endsWith('.test.ts'));
const entries = [...threads, ...names.map((name) => `test/${name}`)].map((file) => [file.slice(0, -3), file]);
const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8'));

/** Tests and scripts find files relative to their source. */
const sourceUrls = {
  name: 'source-urls',
  transform: {
    filter: { id: /\/(test|scripts|benchmarks|deploy)\/[^?]*\.ts$/, code: 'import.meta.url' },
    handler: (code, id) => ({ code: code.replaceAll('import.meta.url', `'${pathToFileURL(id)}'`), map: null }),
  },
};

const bundle = await rolldown({
  ...service,
  input: { ...service.input, ...Object.fromEntries(entries) },
  external: [...service.external, ...Object.keys(devDependencies).map((name) => new RegExp(`^${name}(/|$)`))],
  plugins: [...service.plugins, sourceUrls],
});
const { output } = await bundle.generate({ ...service.output, chunkFileNames: '[name].js', sourcemap: true });
await bundle.close();

// Unchanged files are not written: another run of AVA may be reading them.
for (const { fileName, code, source } of output) {
  const file = join(folder, fileName);
  const bytes = Buffer.from(code ?? source);
  if (existsSync(file) && readFileSync(file).equals(bytes)) continue;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, bytes);
}

export default {
  files: ['test/**/*.test.ts'],
  extensions: { ts: 'commonjs' },
  require: ['./test/support/load-built.cjs'],
  workerThreads: false,
  concurrency: 3,
  timeout: '20m',
};
