/** The files that threads run. They are found from this one, in the sources and in the build alike. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const extension = extname(fileURLToPath(import.meta.url));

export function threadFile(name: 'workers/task' | 'cli/analyze-thread' | 'cli/features-thread'): string {
  return fileURLToPath(new URL(`./${name}${extension}`, import.meta.url));
}
