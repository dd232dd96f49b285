/** Runs every test, the type check and the lint, and closes with one line made from their results. */

import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { type Outcome, parseCheck, parseDoctest, parseTap, type Result, summary, total } from './results.ts';
import { runScript } from './run-script.ts';

type Runner = {
  readonly name: string;
  /** Commands run in turn up to the first that fails; the last one's output is what gets parsed. */
  readonly commands: readonly (readonly string[])[];
  readonly parse: (name: string, outcome: Outcome) => Result;
};

/** A newer compiler may warn of more: only continuous integration stops at warnings. */
const warningsAreErrors = `-DUNDERTONE_WERROR=${process.env.CI ? 'ON' : 'OFF'}`;

/** Ubuntu has Chromium as a snap only. */
function chosenTests(): readonly string[] {
  if (existsSync('/usr/bin/chromium')) return [];
  process.stderr.write('without /usr/bin/chromium the tests of pages are skipped\n');
  const files = readdirSync('test/web').map((name) => `test/web/${name}`);
  const opened = files.filter((file) => /support\/(chromium|site)\.ts/.test(readFileSync(file, 'utf8')));
  return ['test/**/*.test.ts', ...opened.map((file) => `!${file}`)];
}

const createRunners = (): readonly Runner[] => [
  {
    name: 'native',
    commands: [
      [
        'cmake',
        '-S',
        '.',
        '-B',
        'build/tests',
        '-DUNDERTONE_TESTS=ON',
        '-DCMAKE_BUILD_TYPE=Release',
        warningsAreErrors,
      ],
      ['cmake', '--build', 'build/tests', '--parallel', '2', '--target', 'undertone_tests'],
      ['build/tests/undertone_tests', '--no-colors=true'],
    ],
    parse: parseDoctest,
  },
  {
    name: 'types',
    commands: [
      ['node_modules/.bin/tsc', '--noEmit'],
      ['node_modules/.bin/tsc', '-p', 'web/tsconfig.json'],
      ['node_modules/.bin/tsc', '-p', 'clients/typescript', '--noEmit'],
    ],
    parse: parseCheck,
  },
  { name: 'lint', commands: [['node_modules/.bin/biome', 'ci', '--colors=off', '.']], parse: parseCheck },
  { name: 'typescript', commands: [['node_modules/.bin/ava', '--tap', ...chosenTests()]], parse: parseTap },
];

function execute(command: readonly string[]): Promise<Outcome> {
  const [file = '', ...args] = command;
  return new Promise((resolve) => {
    const child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const chunks: Buffer[] = [];
    const keep = (chunk: Buffer): void => {
      chunks.push(chunk);
      process.stdout.write(chunk);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', (chunk: Buffer) => process.stderr.write(chunk));
    const finish = (status: number | null): void =>
      resolve({ status, output: Buffer.concat(chunks).toString() });
    child.on('error', (error) => {
      process.stderr.write(`${file}: ${error.message}\n`);
      finish(null);
    });
    child.on('close', finish);
  });
}

async function runOne({ name, commands, parse }: Runner): Promise<Result> {
  console.log(`\n== ${name}`);
  let outcome: Outcome = { status: 1, output: '' };
  for (const command of commands) {
    outcome = await execute(command);
    if (outcome.status !== 0) break;
  }
  return parse(name, outcome);
}

await runScript(async () => {
  parseArgs();
  const results: Result[] = [];
  for (const runner of createRunners()) results.push(await runOne(runner));
  const sum = total(results);
  console.log('');
  for (const result of results) console.log(`${result.name.padEnd(12)}${summary(result)}`);
  console.log(summary(sum));
  process.exitCode = sum.failed > 0 ? 1 : 0;
});
