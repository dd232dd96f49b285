/** An expected failure of a script is one line and an exit code. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { makeFolder } from './support/folder.ts';
import { words } from './support/words.ts';

const node = ['node', '--import=tsx'];

/** A path with Node.js and what every system has: no script gets far with it. */
function barePath(): string {
  const folder = makeFolder();
  const tools = 'sh env dirname realpath mktemp mkdir rm cat cmp';
  const { stdout } = spawnSync('sh', ['-c', `for tool in ${tools}; do command -v $tool; done`], {
    encoding: 'utf8',
  });
  for (const tool of [process.execPath, ...stdout.trim().split('\n')])
    symlinkSync(tool, join(folder, basename(tool)));
  return folder;
}
const bare = barePath();

/** Expects failure with one line, which contains `expected`. */
function failsWith(
  t: ExecutionContext,
  [program = '', ...args]: readonly string[],
  expected: string,
  env: Readonly<Record<string, string>> = {},
): void {
  const { status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    env: { PATH: bare, ...env },
  });
  t.true(status !== null && status > 0, `${status}`);
  t.is(stdout, '');
  t.regex(stderr, /^[^\n]+\n$/);
  t.true(stderr.includes(expected), stderr);
}

/** Every program that a person starts. */
const scripts = words`
  scripts/test.ts scripts/sbom.ts scripts/clients.ts scripts/equal.ts scripts/prebuild.ts benchmarks/run.ts
  benchmarks/profile.ts deploy/fleet/up.ts test/clients/agent.ts test/install/run.ts test/mutations.ts
  test/reliability/run.ts test/support/record-examples.ts test/web/screenshots.ts
`;

test('every script ends an expected failure with `runScript`', (t) => {
  for (const script of scripts) {
    const text = readFileSync(script, 'utf8');
    t.regex(text, /^ *await runScript\(/m, script);
    t.true(text.includes('parseArgs(') || script === 'scripts/equal.ts', script);
  }
});

for (const command of [
  ['node', 'scripts/setup.mjs'],
  [...node, 'scripts/equal.ts'],
  [...node, 'scripts/prebuild.ts'],
  [...node, 'test/reliability/run.ts'],
])
  test(`${command.at(-1)} refuses an unknown option`, (t) =>
    failsWith(t, [...command, '--surprise'], '--surprise'));

for (const script of words`
  scripts/clients.ts benchmarks/run.ts test/clients/agent.ts test/install/run.ts test/reliability/run.ts
`)
  test(`${script} names what it knows for an unknown name`, (t) =>
    failsWith(t, [...node, script, 'surprise'], 'got "surprise"'));

for (const [command, missing] of [
  [[...node, 'scripts/prebuild.ts'], 'got none: install the Debian packages'],
  [[...node, 'benchmarks/run.ts', 'counts'], 'Debian packages valgrind'],
  [[...node, 'benchmarks/profile.ts'], 'npm'],
  [[...node, 'deploy/fleet/up.ts'], 'npm'],
  [[...node, 'test/install/run.ts'], 'ffmpeg'],
  [[...node, 'test/reliability/run.ts', 'abort'], 'npm'],
  [[...node, 'test/reliability/run.ts', 'sanitizers'], 'Debian packages clang'],
  [['sh', 'scripts/neon.sh'], 'g++-aarch64-linux-gnu'],
  [['sh', 'scripts/speech.sh'], 'espeak-ng'],
  [['sh', 'scripts/examples.sh'], 'espeak-ng'],
] as const)
  test(`${command.slice(-2).join(' ')} names a missing program`, (t) => failsWith(t, command, missing));

test('a program that fails in a script is one line', (t) => {
  const options = { encoding: 'utf8', env: { PATH: '/nowhere' } } as const;
  const args = ['--import=tsx', 'scripts/clients.ts'];
  const { status, stderr } = spawnSync(process.execPath, args, options);
  t.is(status, 1);
  t.regex(stderr, /^Command failed: \S+openapi-typescript [^\n]*\n$/m);
  t.notRegex(stderr, /\n {4}at /);
});

for (const script of ['setup', 'train', 'evaluate'])
  test(`training/${script} names the package of a missing Python`, (t) => {
    const folder = makeFolder();
    for (const file of ['setup', 'train', 'evaluate', 'requirements.txt'])
      copyFileSync(join('training', file), join(folder, file));
    failsWith(t, ['sh', join(folder, script)], 'python3-venv');
  });

test('training names the folder of the recordings when they are missing', (t) => {
  const env = { PATH: process.env.PATH ?? '', UNDERTONE_DATA: '/nonexistent' };
  for (const command of ['evaluate', 'choices', 'sets'])
    failsWith(t, ['python3', '-m', 'training', command], 'UNDERTONE_DATA', env);
});

test('the set-up says where it cannot write', (t) => {
  const folder = makeFolder();
  mkdirSync(join(folder, 'scripts'));
  copyFileSync('scripts/setup.mjs', join(folder, 'scripts/setup.mjs'));
  writeFileSync(join(folder, '.cache'), '');
  failsWith(t, ['node', resolve(folder, 'scripts/setup.mjs')], '.cache');
});
