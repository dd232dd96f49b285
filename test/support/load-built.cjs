/** AVA requires test files: their builds are imported in their place (ava.config.mjs). */
const { relative, resolve } = require('node:path');
const { pathToFileURL } = require('node:url');

require.extensions['.ts'] = (module, file) => {
  const built = resolve('build/ava', relative('', file)).replace(/ts$/, 'js');
  module.exports = import(pathToFileURL(built));
};
