/** The documentation in Markdown. */
import { readdirSync, readFileSync } from 'node:fs';
import { docsFolder } from './paths.ts';

/** @returns file names, sorted */
export function listDocs(): string[] {
  const names = readdirSync(docsFolder).filter((name) => name.endsWith('.md'));
  return names.sort();
}

/** Links to files that are no pages become text. */
export function readDoc(name: string): string {
  return readFileSync(new URL(name, docsFolder), 'utf8').replace(
    /!?\[([^\]]*)\]\((?!https?:|#|[\w-]+\.md[#)])([^)]*)\)/g,
    (_link, text, path) => `${text} (\`${String(path).replace(/^(\.\.\/)+/, '')}\`)`,
  );
}
