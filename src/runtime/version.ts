import { createRequire } from 'node:module';

/** Version of the package. The path is valid in src/runtime/ and in dist/src/. */
export const version: string = createRequire(import.meta.url)('../../package.json').version;
