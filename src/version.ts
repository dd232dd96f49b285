import { createRequire } from 'node:module';

/** From src/ and from dist/src/. */
const manifest = import.meta.url.endsWith('.ts') ? '../package.json' : '../../package.json';

/** Of the package. */
export const version = (createRequire(import.meta.url)(manifest) as { version: string }).version;
