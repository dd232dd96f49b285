/**
 * Executes the steps of the Containerfile in clean Debian roots, since no image can be pulled here: the base image is
 * stood in for by debootstrap's minimal Debian 12 and the Node of the npm package `node`. Then the command is run as
 * the image's user, without a network, on a read-only root.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { cacheFolder, root, runProgram } from '../../../benchmarks/case.ts';
import { atMost, exactly, informational, type Row } from '../case.ts';
import { type Copy, parseContainerfile, type Stage, type Step } from './containerfile.ts';

const nodeVersion = '22.23.3';
const entryPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Registry access of this machine. */
const machineFiles = [
  '/etc/apt/sources.list',
  '/etc/apt/sources.list.d',
  '/etc/apt/apt.conf.d',
  '/etc/apt/auth.conf.d',
  '/etc/resolv.conf',
  '/etc/hosts',
  '/etc/ssl/certs/ca-certificates.crt',
  '/root/.npmrc',
  '/usr/etc/npmrc',
];

type Built = { readonly folder: string; readonly env: Record<string, string>; cwd: string; user: string };

export async function runContainer(): Promise<readonly Row[]> {
  const stages = parseContainerfile(readFileSync(join(root, 'deploy/container/Containerfile'), 'utf8'));
  const folder = cacheFolder('container');
  const base = makeBase(folder);
  const built = new Map<string, Built>();
  let steps = 0;
  for (const [index, stage] of stages.entries()) {
    const image = buildStage(stage, join(folder, `stage-${index}`), base, built);
    steps += stage.steps.length;
    built.set(stage.name ?? String(index), image);
  }
  const last = stages.at(-1) as Stage;
  const image = built.get(last.name ?? String(stages.length - 1)) as Built;
  const answer = serve(image, last);
  return [
    informational('Containerfile: steps executed in clean Debian roots', 'steps', steps),
    exactly(
      1,
      'its command serves as user 10001, read-only and without a network',
      'answers 200',
      answer.analyses,
    ),
    exactly(1, 'its health check passes', '', answer.healthy),
    atMost(900, 'size of the root over its base', 'MiB', sizeOf(image.folder) - sizeOf(base)),
  ];
}

function sizeOf(folder: string): number {
  return Number(runProgram('du', ['-sxm', folder]).split('\t')[0]);
}

/** Made once: half a minute. */
function makeBase(folder: string): string {
  const base = join(folder, 'base');
  if (existsSync(join(base, 'usr/local/bin/npm'))) return base;
  rmSync(base, { recursive: true, force: true });
  process.stderr.write('container: making a clean Debian root ...\n');
  runProgram('debootstrap', ['--variant=minbase', 'bookworm', base]);
  rmSync(join(base, 'etc/apt/sources.list'), { force: true });
  for (const file of machineFiles.filter(existsSync))
    cpSync(file, join(base, file), { recursive: true, dereference: true });
  const packages = join(folder, 'node');
  runProgram('npm', [
    'install',
    '--prefix',
    packages,
    '--ignore-scripts=false',
    '--no-audit',
    '--no-fund',
    `node@${nodeVersion}`,
    'npm@10',
  ]);
  mkdirSync(join(base, 'usr/local/lib/node_modules'), { recursive: true });
  cpSync(join(packages, 'node_modules/node/bin/node'), join(base, 'usr/local/bin/node'), {
    dereference: true,
  });
  cpSync(join(packages, 'node_modules/npm'), join(base, 'usr/local/lib/node_modules/npm'), {
    recursive: true,
  });
  for (const name of ['npm', 'npx']) {
    runProgram('ln', ['-s', `../lib/node_modules/npm/bin/${name}-cli.js`, join(base, 'usr/local/bin', name)]);
  }
  return base;
}

function buildStage(stage: Stage, folder: string, base: string, built: ReadonlyMap<string, Built>): Built {
  rmSync(folder, { recursive: true, force: true });
  runProgram('cp', ['-a', '--reflink=auto', base, folder]);
  const image: Built = { folder, env: {}, cwd: '/', user: '0:0' };
  for (const [index, step] of stage.steps.entries()) {
    const text = step.kind === 'run' ? step.text : step.kind;
    process.stderr.write(`container: ${stage.name ?? 'last'} ${index + 1}/${stage.steps.length} ${text}\n`);
    execute(step, image, built);
  }
  return image;
}

function execute(step: Step, image: Built, built: ReadonlyMap<string, Built>): void {
  if (step.kind === 'copy') copy(step, image, built);
  else if (step.kind === 'env') image.env[step.name] = step.value;
  else if (step.kind === 'user') image.user = step.text;
  else if (step.kind === 'run') chroot(image, ['sh', '-c', step.text]);
  else {
    image.cwd = step.text;
    mkdirSync(join(image.folder, step.text), { recursive: true });
  }
}

function copy({ from, source, target }: Copy, image: Built, built: ReadonlyMap<string, Built>): void {
  const inside = join(image.folder, resolve(image.cwd, target));
  if (from === null) {
    // The committed files, as the builder sends them.
    runProgram('sh', ['-c', `git archive HEAD | tar -x -C '${inside}'`]);
    return;
  }
  const origin = join((built.get(from) as Built).folder, source);
  mkdirSync(dirname(inside), { recursive: true });
  runProgram('cp', ['-a', statSync(origin).isDirectory() ? `${origin}/.` : origin, inside]);
}

/** Runs a command in new namespaces with a clean environment. */
function chroot({ folder, env, cwd }: Built, command: readonly string[]): void {
  const settings = {
    PATH: entryPath,
    HOME: '/root',
    NODE_EXTRA_CA_CERTS: '/etc/ssl/certs/ca-certificates.crt',
    ...env,
  };
  const variables = Object.entries(settings).map(([name, value]) => `${name}=${value}`);
  const isolated = ['--mount', '--pid', '--fork', `--mount-proc=${join(folder, 'proc')}`];
  const entered = ['env', '-i', ...variables, 'chroot', folder, 'sh', '-c', `cd '${cwd}' && exec "$@"`, 'sh'];
  runProgram('unshare', [...isolated, ...entered, ...command]);
}

/** The image has no curl. */
const ask = `const form = new FormData();
form.append('audio', new Blob([require('fs').readFileSync('/sample.wav')], { type: 'audio/wav' }));
fetch('http://127.0.0.1:8080/v1/analyze', { method: 'POST', body: form, headers: { authorization: 'Bearer ' + process.env.UNDERTONE_TOKEN } })
  .then((answer) => { console.log('status ' + answer.status); });`;

function serve(
  { folder, env, cwd, user }: Built,
  { command, healthCheck }: Stage,
): { analyses: number; healthy: number } {
  const quoted = (words: readonly string[]) =>
    words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
  cpSync(join(root, 'examples/sample.wav'), join(folder, 'sample.wav'));
  const variables = { PATH: entryPath, UNDERTONE_TOKEN: 'static-token-of-the-container', ...env };
  const settings = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
  const script = `set -e
ip link set lo up
mount --bind '${folder}' '${folder}'
mount -t tmpfs tmpfs '${folder}/data' && chown ${user} '${folder}/data'
mount -t tmpfs tmpfs '${folder}/tmp'
mount -t proc proc '${folder}/proc'
mount --rbind /dev '${folder}/dev'
mount -o remount,bind,ro '${folder}'
enter() { env -i ${quoted(settings)} chroot --userspec=${user} '${folder}' sh -c 'cd ${cwd} && exec "$@"' sh "$@"; }
enter ${quoted(command)} >/dev/shm/undertone-container.$$ &
served=$!
for _ in $(seq 300); do grep -q '^listening' /dev/shm/undertone-container.$$ && break; sleep 0.1; done
rm -f /dev/shm/undertone-container.$$
enter ${quoted(healthCheck)} && echo healthy
enter node -e ${quoted([ask])}
kill -TERM $served; wait $served`;
  const { stdout, stderr } = spawnSync(
    'unshare',
    ['--mount', '--net', '--pid', '--fork', '--kill-child', 'sh', '-c', script],
    { encoding: 'utf8' },
  );
  if (!stdout.includes('status 200')) process.stderr.write(`${stdout}${stderr}`);
  return { analyses: stdout.split('status 200').length - 1, healthy: stdout.includes('healthy') ? 1 : 0 };
}
