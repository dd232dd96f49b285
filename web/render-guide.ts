/** The pages of docs/ as HTML, and the index that their search reads, when the pages are built. */
import { Marked, type Tokens } from 'marked';
import { listDocs, readDoc } from '../src/node/docs.ts';
import { html } from '../src/service/html.ts';

/** A heading and the text below it, up to the next one. `page`: its path below /docs. */
export type Section = {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
};

/** The language of blocks that only the repository draws. */
const diagram = 'mermaid';

/** The page of questions, whose other links are the navigation. */
const first = 'README.md';

const escapeHtml = (text: string) => html`${text}`.html;

const pathOf = (name: string) => name.replace(/\.md$/, '');

/** As GitHub names it. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const plain = (markdown: string) => markdown.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').replace(/[`*|#]/g, '');

const marked = new Marked({
  renderer: {
    heading({ tokens, depth, text }) {
      const id = anchorOf(plain(text));
      const link =
        depth === 1 ? '' : ` <a class="anchor" href="#${id}" aria-label="Link to this section">#</a>`;
      return `<h${depth} id="${id}">${this.parser.parseInline(tokens)}${link}</h${depth}>\n`;
    },
    link({ href, tokens }) {
      const address = /^https?:/.test(href) ? href : href.replace(/\.md(?=#|$)/, '');
      return `<a href="${escapeHtml(address)}">${this.parser.parseInline(tokens)}</a>`;
    },
    image: ({ href, text }) =>
      `<img src="/docs/${href.replace(/^(\.\.\/)+/, '')}" alt="${escapeHtml(text)}" loading="lazy">`,
    code: ({ text, lang }) =>
      lang === diagram
        ? ''
        : `<pre class="code" tabindex="0" role="group" aria-label="Code"><code>${escapeHtml(text)}</code></pre>\n`,
    html: ({ text }) => escapeHtml(text.replace(/<!--.*?-->/gs, '')).replace(/&lt;(\/?su[bp])&gt;/g, '<$1>'),
  },
});

/** Raw HTML but `sub` and `sup` is text, without comments; tables scroll; diagrams are left out. */
export const renderMarkdown = (markdown: string): string =>
  marked
    .parse(markdown, { async: false })
    .replaceAll('<table>', '<div class="table-scroll" tabindex="0" role="region" aria-label="Table"><table>')
    .replaceAll('</table>', '</table></div>');

const titleOf = (name: string) => /^# (.*)$/m.exec(readDoc(name))?.[1] ?? name;

/** Links to all pages, in the order and under the headings of the first page. @throws Error when it leaves one out */
function navigation(): string {
  const parts: string[] = [];
  const listed = new Set([first]);
  for (const token of marked.lexer(readDoc(first))) {
    if (token.type === 'heading' && token.depth === 2)
      parts.push(`</ul><h2>${escapeHtml(token.text)}</h2><ul>`);
    for (const [, href = ''] of token.raw.matchAll(/\]\(([\w/-]+\.md)\)/g)) {
      if (listed.has(href)) continue;
      listed.add(href);
      parts.push(linkTo(href));
    }
  }
  const missing = listDocs().filter((name) => !listed.has(name));
  if (missing.length > 0)
    throw new Error(`Expected a link to each page in docs/${first}, got none to ${missing.join(', ')}`);
  const list = `<ul>${linkTo(first)}${parts.join('')}</ul>`.replace(/<h2>[^<]*<\/h2><ul><\/ul>/g, '');
  return `<nav aria-label="Documentation">${list}</nav>`;
}

const linkTo = (name: string) => `<li><a href="/docs/${pathOf(name)}">${escapeHtml(titleOf(name))}</a></li>`;

/** @param template web/guide/index.html, as built @returns HTML by file name */
export function renderPages(template: string): ReadonlyMap<string, string> {
  const mark = (text: string, path: string, value: string) =>
    text.replace(`<a href="${path}"`, (link) => `${link} aria-current="${value}"`);
  const pages = navigation();
  const shell = mark(template, '/docs/README', 'true');
  return new Map(
    listDocs().map((name) => {
      const page = shell
        .replace('TITLE', () => escapeHtml(titleOf(name)))
        .replace('<!-- pages -->', () => mark(pages, `/docs/${pathOf(name)}`, 'page'))
        .replace('<!-- content -->', () => renderMarkdown(readDoc(name)));
      return [`${pathOf(name)}.html`, page] as const;
    }),
  );
}

export function searchIndex(): readonly Section[] {
  return listDocs().flatMap((name) => {
    const title = titleOf(name);
    const sections: Section[] = [];
    for (const token of marked.lexer(readDoc(name))) {
      if (token.type === 'heading') {
        const heading = plain((token as Tokens.Heading).text);
        sections.push({ page: pathOf(name), title, heading, anchor: anchorOf(heading), text: '' });
      }
      const last = sections.at(-1);
      const isDiagram = token.type === 'code' && token.lang === diagram;
      if (token.type === 'heading' || token.type === 'html' || isDiagram || last === undefined) continue;
      const text = `${last.text} ${plain(token.raw)}`.replace(/-{2,}/g, '').replace(/\s+/g, ' ').trim();
      sections[sections.length - 1] = { ...last, text };
    }
    return sections;
  });
}
