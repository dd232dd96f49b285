/** Spectral and Redocly on the published document. */
import { spawnSync } from 'node:child_process';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root, runProgram } from '../../../benchmarks/case.ts';

const spectralPackage = '@stoplight/spectral-cli@6.16.0';

export type Finding = { readonly linter: string; readonly rule: string; readonly where: string };

/** Every error and warning. Throws when a linter did not run. */
export function lint(document: object): readonly Finding[] {
  const folder = cacheFolder('contract');
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  return [...spectral(folder, file), ...redocly(folder, file)];
}

type Spectral = { readonly code: string; readonly path: readonly string[]; readonly severity: number };
const worstOfNothing = 1;

function spectral(folder: string, file: string): Finding[] {
  const home = cacheFolder('spectral-6.16.0');
  const program = join(home, 'node_modules', '.bin', 'spectral');
  const quiet = ['--no-audit', '--no-fund', '--ignore-scripts'];
  if (!existsSync(program)) runProgram('npm', ['install', '--prefix', home, ...quiet, spectralPackage]);
  const rules = join(folder, 'spectral.yaml');
  writeFileSync(rules, 'extends: ["spectral:oas"]\n');
  const found = report<readonly Spectral[]>(program, [
    'lint',
    '--format=json',
    '--quiet',
    `--ruleset=${rules}`,
    file,
  ]);
  return found
    .filter(({ severity }) => severity <= worstOfNothing)
    .map(({ code, path }) => ({ linter: 'Spectral', rule: code, where: path.join('.') }));
}

type Redocly = {
  readonly problems: readonly {
    readonly ruleId: string;
    readonly location: readonly { readonly pointer?: string }[];
  }[];
};

function redocly(folder: string, file: string): Finding[] {
  const rules = join(folder, 'redocly.yaml');
  writeFileSync(rules, 'extends: [recommended]\n');
  const program = join(root, 'node_modules', '.bin', 'redocly');
  const { problems } = report<Redocly>(program, ['lint', file, '--format=json', `--config=${rules}`]);
  return problems.map(({ ruleId, location }) => ({
    linter: 'Redocly',
    rule: ruleId,
    where: location[0]?.pointer ?? '',
  }));
}

/** Linters exit with 1 when they find something. */
function report<Report>(program: string, args: readonly string[]): Report {
  const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };
  const { error, stderr, stdout } = spawnSync(program, args, { encoding: 'utf8', env, maxBuffer: 2 ** 26 });
  if (error) throw error;
  try {
    return JSON.parse(stdout) as Report;
  } catch {
    throw new Error(`Expected a report in JSON of ${program}, got ${`${stdout}${stderr}`.slice(-500)}`);
  }
}
