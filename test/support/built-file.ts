import { resolve } from 'node:path';

/** The build of a source below test/support (ava.config.mjs), which threads run. */
export const builtFile = (name: string): string => resolve('build/ava/test/support', `${name}.js`);
