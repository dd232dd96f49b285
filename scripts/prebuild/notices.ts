/** Licences of the npm packages in the bundle. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './step.ts';

type Locked = {
  readonly dev?: true;
  readonly optional?: true;
  readonly version: string;
  readonly license?: string;
};

/** One section per locked package that is not for development. */
export function thirdPartyNotices(): string {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const sections = Object.entries(lock.packages as Readonly<Record<string, Locked>>)
    .filter(
      ([folder, { dev, optional }]) => folder !== '' && !dev && !optional && existsSync(join(root, folder)),
    )
    .map(([folder, { version, license }]) => {
      const texts = readdirSync(join(root, folder))
        .filter((name) => /^(licen[cs]e|copying|notice)/i.test(name))
        .sort()
        .map((name) => readFileSync(join(root, folder, name), 'utf8').trim());
      const name = folder.split('node_modules/').at(-1);
      return [`${name} ${version} (${license ?? 'see below'})`, ...texts].join('\n\n');
    });
  return `${[...new Set(sections)].join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
