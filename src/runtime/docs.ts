/** The documentation in Markdown. */
import { readdirSync, readFileSync } from 'node:fs';

/** rolldown.config.mjs copies the files beside the bundle. */
const folder = new URL(import.meta.url.endsWith('.ts') ? '../../docs/' : './docs/', import.meta.url);

/** @returns file names, sorted */
export function listDocs(): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.md'));
  return names.sort();
}

/** Links to files that are no pages become text. */
export function readDoc(name: string): string {
  return readFileSync(new URL(name, folder), 'utf8').replace(
    /!?\[([^\]]*)\]\((?!https?:|#|[\w-]+\.md[#)])([^)]*)\)/g,
    (_link, text, path) => `${text} (\`${String(path).replace(/^(\.\.\/)+/, '')}\`)`,
  );
}
