/** The documents for readers, and the programs that they show. */
import { readdirSync, readFileSync } from 'node:fs';
import { clients } from '../../scripts/clients.ts';

export const documents: readonly string[] = [
  'README.md',
  ...readdirSync('docs')
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
  ...Object.values(clients).map((folder) => `${folder}/README.md`),
];

/** The code blocks of a language. */
export function examples(document: string, language: string): string[] {
  const blocks = readFileSync(document, 'utf8').matchAll(/^```(\w+)\n(.*?)^```$/gms);
  return [...blocks].filter((block) => block[1] === language).map((block) => block[2] as string);
}
