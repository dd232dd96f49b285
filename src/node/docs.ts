/** The documentation: its pages in Markdown, and their pictures. */
import { readdirSync, readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { docsFolder } from './paths.ts';

/** @returns paths below the folder, sorted */
export function listDocs(): string[] {
  const names = readdirSync(docsFolder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => name.endsWith('.md')).sort();
}

/** @returns file names below docs/pictures */
export const listPictures = (): string[] => readdirSync(new URL('pictures/', docsFolder));

export const readPicture = (name: string): Promise<Buffer> =>
  readFile(new URL(`pictures/${name}`, docsFolder));

/** Links to files that are neither pages nor pictures become text. */
export function readDoc(name: string): string {
  const page = new URL(name, docsFolder);
  const isServed = ({ href, pathname }: URL) =>
    href.startsWith(docsFolder.href) && /\.(md|png|svg)$/.test(pathname);
  return readFileSync(page, 'utf8').replace(
    /!?\[([^\]]*)\]\((?!https?:|#)([^)]*)\)/g,
    (link: string, text: string, path: string) =>
      isServed(new URL(path, page)) ? link : `${text} (\`${path.replace(/^(\.\.\/)+/, '')}\`)`,
  );
}
