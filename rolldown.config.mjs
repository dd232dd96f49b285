/** Builds the service: few files with the packages that they use, which start much faster than 600 small ones. */
import { defineConfig } from 'rolldown';

export default defineConfig({
  // The command, the package's exports, and what threads and processes run (src/runtime/worker-entries.ts).
  input: {
    cli: 'src/cli.ts',
    index: 'src/index.ts',
    'workers/analysis-thread': 'src/workers/analysis-thread.ts',
    'workers/analysis-process': 'src/workers/analysis-process.ts',
    'jobs/job-thread': 'src/jobs/job-thread.ts',
    'jobs/upload-thread': 'src/jobs/upload-thread.ts',
    'cli/analyze-thread': 'src/cli/analyze-thread.ts',
    'cli/features-thread': 'src/cli/features-thread.ts',
  },
  platform: 'node',
  // Packages that look for files of their own beside their code.
  external: [/^(onnxruntime-node|libsql|pg|pino|piscina|swagger-ui-dist)(\/|$)/],
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
