/** The files that threads and processes run. They are found from this one, in the sources and in the build alike. */
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';

const extension = extname(fileURLToPath(import.meta.url));

type Name =
  | 'workers/task'
  | 'workers/child'
  | 'jobs/task'
  | 'jobs/upload-thread'
  | 'cli/analyze-thread'
  | 'cli/features-thread';

export function threadFile(name: Name): string {
  return fileURLToPath(new URL(`./${name}${extension}`, import.meta.url));
}
