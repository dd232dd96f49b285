/**
 * Mutation testing: makes small faults in files, one at a time, and runs a command that must fail for each. A fault that survives
 * is a gap of the tests. It changes a worktree of the last commit.
 *   npx tsx test/mutations.ts [--seed 7] [--count 20] FILE... -- COMMAND
 */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ExpectedError, runScript } from '../scripts/run-script.ts';
import { createPrng } from './reliability/support/prng.ts';
import { makeFolder } from './support/folder.ts';
import { type Mutant, mutantsOf } from './support/mutants.ts';

const options = {
  seed: { type: 'string', default: '7' },
  count: { type: 'string', default: '20' },
} as const;
const limitSeconds = '900';

function draw(mutants: Mutant[], seed: number, count: number): Mutant[] {
  const prng = createPrng(seed);
  const left = [...mutants];
  return Array.from({ length: Math.min(count, left.length) }, () => {
    const drawn = prng.pick(left);
    left.splice(left.indexOf(drawn), 1);
    return drawn;
  });
}

/** With what is built here, but for the tests, which each tree builds: a command for C++ builds the native ones. */
function addWorktree(): string {
  const folder = join(makeFolder(), 'tree');
  execFileSync('git', ['worktree', 'add', '--quiet', '--detach', folder]);
  for (const made of ['dist', 'clients/typescript/dist'])
    if (existsSync(made)) cpSync(made, join(folder, made), { recursive: true });
  mkdirSync(join(folder, 'build'));
  const built = readdirSync('build').filter((name) => name !== 'ava' && name !== 'tests');
  for (const name of ['node_modules', ...built.map((name) => `build/${name}`)])
    symlinkSync(resolve(name), join(folder, name));
  return folder;
}

await runScript(() => {
  const args = process.argv.slice(2);
  const end = args.indexOf('--');
  const { values, positionals: files } = parseArgs({
    args: end < 0 ? args : args.slice(0, end),
    options,
    allowPositionals: true,
  });
  const command = end < 0 ? [] : args.slice(end + 1);
  if (files.length === 0 || command.length === 0)
    throw new ExpectedError('Expected files, then -- and a command that tests them');
  const folder = addWorktree();
  const passes = () =>
    spawnSync('nice', ['-n', '15', 'timeout', limitSeconds, ...command], { cwd: folder }).status === 0;
  try {
    if (!passes()) throw new ExpectedError('Expected a command that succeeds without a fault');
    const all = files.flatMap((file) => mutantsOf(file, readFileSync(join(folder, file), 'utf8')));
    const drawn = draw(all, Number(values.seed), Number(values.count));
    let survived = 0;
    for (const { file, line, before, after, text } of drawn) {
      writeFileSync(join(folder, file), text);
      const isGap = passes();
      if (isGap) survived++;
      console.log(`${isGap ? 'survived' : 'found'}: ${file}:${line}: ${before} -> ${after}`);
      execFileSync('git', ['checkout', '--quiet', file], { cwd: folder });
    }
    console.log(`${drawn.length - survived} of ${drawn.length} faults found`);
  } finally {
    execFileSync('git', ['worktree', 'remove', '--force', folder]);
  }
});
