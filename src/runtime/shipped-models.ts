/** The models of this package. The path is valid in src/runtime/ and in dist/src/. */
import { fileURLToPath } from 'node:url';

/** Folders below models/: the default, a small one, and one of permissively licensed recordings. */
export const modelSets: readonly string[] = ['standard', 'fast', 'open'];

export const shippedModels = fileURLToPath(new URL('../../models/standard', import.meta.url));
