import { createRequire } from 'node:module';

/** The version of the package. The path is the same from src/runtime/ and from dist/src/. */
export const version: string = createRequire(import.meta.url)('../../package.json').version;
