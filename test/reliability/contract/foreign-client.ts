/** Types that the generators of others make from the document, used as the documents of Undertone do. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installNpm } from '../../../benchmarks/peers/npm.ts';
import { makeFolder } from '../../support/folder.ts';
import { tscErrors } from '../../support/type-checks.ts';

const generator = '@hey-api/openapi-ts@0.95.0';

/** Looks at the status before it reads scores. */
export const careful = `import type { CognitiveReport, EmbeddingReport, Report } from 'generated';
export function read(report: Report, cognitive: CognitiveReport, { status, embedding }: EmbeddingReport): number {
  const { emotion } = report;
  if (emotion.status === 'not_available') return emotion.reason.length;
  if (emotion.status === 'ok') return (emotion.signals.valence ?? 0) + (emotion.signals.intervals.valence?.[0] ?? 0);
  if (cognitive.status === 'ok') return cognitive.signals.clarity;
  return status === 'ok' ? embedding.length : 0;
}
`;

export const careless = `import type { Report } from 'generated';
export const read = ({ emotion }: Report): number => emotion.signals.valence;
`;

/** One line per error of a program that imports the types of `document` from 'generated'. */
export function foreignClientErrors(document: object, program: string): readonly string[] {
  const folder = makeFolder();
  const input = join(folder, 'openapi.json');
  writeFileSync(input, JSON.stringify(document));
  const command = join(installNpm(generator, 'typescript@5.9.3'), 'node_modules', '.bin', 'openapi-ts');
  const args = ['--input', input, '--output', join(folder, 'out'), '--plugins', '@hey-api/typescript'];
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`Expected types of ${generator}, got ${stdout}${stderr}`);
  return tscErrors([program], { generated: join(folder, 'out', 'types.gen.ts') });
}
