/** Entry files of threads, in the sources or compiled. */
import { fileURLToPath } from 'node:url';

type Name =
  | 'workers/analysis-thread'
  | 'jobs/job-thread'
  | 'jobs/upload-thread'
  | 'cli/analyze-thread'
  | 'cli/features-thread';

export function entryFile(name: Name): string {
  const isSource = import.meta.url.endsWith('.ts');
  return fileURLToPath(new URL(isSource ? `../${name}.ts` : `./${name}.js`, import.meta.url));
}
