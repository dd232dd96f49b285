/** The models of this package. The path is valid in src/runtime/ and in dist/src/. */
import { fileURLToPath } from 'node:url';

export const shippedModels = fileURLToPath(new URL('../../models/standard', import.meta.url));
