/** Builds the service: few files with the packages that they use, which start much faster than 600 small ones. */
import { readdirSync, readFileSync } from 'node:fs';
import { defineConfig } from 'rolldown';

/** The pages and pictures that src/node/docs.ts reads. */
const docs = {
  name: 'docs',
  generateBundle() {
    const folder = new URL('docs/', import.meta.url);
    for (const name of readdirSync(folder, { recursive: true }).filter((file) => /\.(md|png|svg)$/.test(file))) {
      this.emitFile({ type: 'asset', fileName: `docs/${name}`, source: readFileSync(new URL(name, folder)) });
    }
  },
};

/** Three packages below Koa each read 2,500 media types at the start. The service needs none of vendors. */
const mediaTypes = {
  name: 'media-types',
  load: {
    filter: { id: /mime-db\/db\.json$/ },
    handler(id) {
      const types = Object.entries(JSON.parse(readFileSync(id, 'utf8')));
      const common = types.filter(([type]) => !/\/(vnd|prs|x)[.-]/.test(type) || type.endsWith('/x-www-form-urlencoded'));
      return { code: JSON.stringify(Object.fromEntries(common)), moduleType: 'json' };
    },
  },
};

export default defineConfig({
  // The command, the package's exports, and what threads run (src/node/paths.ts).
  input: {
    cli: 'src/tools/cli.ts',
    index: 'src/tools/index.ts',
    'service/workers/analysis-thread': 'src/service/workers/analysis-thread.ts',
    'service/jobs/result-thread': 'src/service/jobs/result-thread.ts',
    'service/jobs/upload-thread': 'src/service/jobs/upload-thread.ts',
    'tools/analyze-thread': 'src/tools/analyze-thread.ts',
    'tools/features-thread': 'src/tools/features-thread.ts',
    'tools/models/trial': 'src/tools/models/trial.ts',
  },
  platform: 'node',
  // Packages that look for files of their own in the folder of their code.
  external: [/^(libsql|pg|pino|piscina)(\/|$)/],
  plugins: [docs, mediaTypes],
  output: {
    dir: 'dist/src',
    // Sources find addon, models and threads from their own address: files of several sources lie where src/*.ts would.
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    cleanDir: true,
  },
  // depd, below Koa, names a function by eval.
  checks: { eval: false },
  logLevel: 'warn',
});
