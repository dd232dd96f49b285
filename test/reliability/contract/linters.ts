/** Spectral on the published document; Redocly is a test of `npm test`. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { installNpm } from '../../../benchmarks/peers/npm.ts';

const spectral = '@stoplight/spectral-cli@6.16.0';

/** Every error and warning, one a line: LINE:COLUMN SEVERITY RULE MESSAGE. */
export function lint(document: object): readonly string[] {
  const home = installNpm(spectral);
  const program = join(home, 'node_modules', '.bin', 'spectral');
  const [file, rules] = [join(home, 'openapi.json'), join(home, 'spectral.yaml')];
  writeFileSync(file, JSON.stringify(document, null, 1));
  writeFileSync(rules, 'extends: ["spectral:oas"]\n');
  const args = ['lint', '--format=text', '--fail-severity=warn', `--ruleset=${rules}`, file];
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8' });
  const found = stdout.split('\n').filter((line) => / (error|warning) /.test(line));
  if ((status === 0) !== (found.length === 0))
    throw new Error(`Expected findings of Spectral or success, got ${stdout}${stderr}`);
  return found;
}
