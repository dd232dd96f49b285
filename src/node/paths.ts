/** Paths of this package, in the sources and in the bundle: both have this file, or its chunk, two folders below the root. */
import { createRequire } from 'node:module';
import { resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const isSource = import.meta.url.endsWith('.ts');
const packageRequire = createRequire(import.meta.url);
const fromRoot = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));

/** Version of the package. */
export const version: string = packageRequire('../../package.json').version;

/** The native code that a clone builds. */
export const builtAddon = fromRoot('build/Release/undertone.node');
export const builtProcessAddon = fromRoot('build/Release/undertone_process.node');

/** Folders below models/: the default, a large and a small one, and one that may not be sold. */
export const modelSets: readonly string[] = ['standard', 'large', 'fast', 'research'];
/** Instead of models/open, which is no longer there. */
export const successorsOfOpen = 'standard, large or fast (they may be sold)';
export const shippedModels = fromRoot('models/standard');
/** Recordings that are scored wrongly. */
export const failuresFolder = fromRoot('models/failures');

/** Built pages; the bundle has them next to its folder. */
export const pagesFolder = fromRoot(isSource ? 'web' : 'dist/web');

/** rolldown.config.mjs copies these files into the bundle. */
export const docsFolder = new URL(isSource ? '../../docs/' : './docs/', import.meta.url);
type Entry =
  | 'service/workers/analysis-thread'
  | 'service/jobs/result-thread'
  | 'service/jobs/upload-thread'
  | 'tools/analyze-thread'
  | 'tools/features-thread'
  | 'tools/models/trial';

/** Entry file of a thread. */
export function entryFile(name: Entry): string {
  return fileURLToPath(new URL(isSource ? `../${name}.ts` : `./${name}.js`, import.meta.url));
}

/** Names of two sets of models: of their folders, with the folder around where both are the same. */
export function nameSets(one: string, other: string): readonly [string, string] {
  const name = (path: string, parts: number) => resolve(path).split(sep).slice(-parts).join('/');
  const parts = name(one, 1) === name(other, 1) ? 2 : 1;
  return [name(one, parts), name(other, parts)];
}
