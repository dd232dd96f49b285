/** The documents for readers, the sources of the public functions, and the programs that both show. */
import { readdirSync, readFileSync } from 'node:fs';
import { clients } from '../../scripts/clients.ts';

/** Where the functions of the package are, with `@example`. */
export const sources: readonly string[] = [
  'src/tools/index.ts',
  'src/node/addon.ts',
  'src/engine/platform.ts',
];

export const documents: readonly string[] = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...Object.values(clients).map((folder) => `${folder}/README.md`),
  ...sources,
];

export type Example = {
  readonly language: string;
  readonly code: string;
  /** The block of text right after it. */
  readonly output: string | undefined;
};

/** The code blocks, in their order. */
export function allExamples(document: string): Example[] {
  const text = readFileSync(document, 'utf8').replace(/^ \* ?/gm, '');
  const blocks = text.matchAll(/^```(\w+)\n(.*?)^```$(?=(?:\n\n```text\n(.*?)^```$)?)/gms);
  return [...blocks].map(([, language = '', code = '', output]) => ({ language, code, output }));
}

/** The code blocks of a language. */
export function examples(document: string, language: string): string[] {
  return allExamples(document)
    .filter((example) => example.language === language)
    .map(({ code }) => code);
}
