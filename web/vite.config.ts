/** Builds the pages that the service serves: `vite build web` writes dist/web. */
import { readFileSync } from 'node:fs';
import { defineConfig, type Plugin } from 'vite';
import { definitions, signals } from '../src/engine/schema.ts';
import { scopeOf } from '../src/service/auth/token-format.ts';
import { renderPages, searchIndex } from './render-guide.ts';

const page = (name: string) => new URL(name, import.meta.url).pathname;

/** Replaces `<!-- NAME -->` by web/partials/NAME.html and marks the link to the page itself. */
function partials(...names: readonly string[]): Plugin {
  const include = (html: string, name: string) =>
    html.replace(`<!-- ${name} -->`, () => readFileSync(page(`partials/${name}.html`), 'utf8').trim());
  const handler = (html: string, { path }: { readonly path: string }) => {
    const link = `<a href="${path.replace(/\/?index\.html$/, '') || '/'}"`;
    return names.reduce(include, html).replace(link, `${link} aria-current="page"`);
  };
  return { name: 'partials', transformIndexHtml: { order: 'pre', handler } };
}

/** Replaces `<!-- scopes -->` by a checkbox per signal. */
function scopes(): Plugin {
  const labels = signals.map((signal) => {
    const title = definitions[signal].title.replace(/^\w/, (letter) => letter.toUpperCase());
    return `<label><input type="checkbox" name="scopes" value="${scopeOf(signal)}" checked> ${title} <code>${scopeOf(signal)}</code></label>`;
  });
  return {
    name: 'scopes',
    transformIndexHtml: { order: 'pre', handler: (html) => html.replace('<!-- scopes -->', labels.join('')) },
  };
}

/** Replaces the template of the documentation by its pages. */
function guide(): Plugin {
  return {
    name: 'guide',
    enforce: 'post',
    generateBundle(_, bundle) {
      const template = bundle['guide/index.html'];
      if (template?.type !== 'asset') throw new Error('Expected guide/index.html, got none');
      delete bundle['guide/index.html'];
      for (const [fileName, source] of renderPages(String(template.source)))
        this.emitFile({ type: 'asset', fileName: `guide/${fileName}`, source });
      const source = JSON.stringify(searchIndex());
      this.emitFile({ type: 'asset', fileName: 'guide/search.json', source });
    },
  };
}

export default defineConfig({
  root: page('.'),
  plugins: [partials('head', 'header', 'footer'), scopes(), guide()],
  // The service replaces this word by a new nonce in each response.
  html: { cspNonce: 'CSP_NONCE' },
  build: {
    outDir: page('../dist/web'),
    emptyOutDir: true,
    assetsInlineLimit: 0,
    // Keeps light-dark().
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    modulePreload: { polyfill: false },
    rolldownOptions: {
      input: {
        playground: page('index.html'),
        account: page('account/index.html'),
        trust: page('trust/index.html'),
        docs: page('docs/index.html'),
        guide: page('guide/index.html'),
      },
    },
  },
});
