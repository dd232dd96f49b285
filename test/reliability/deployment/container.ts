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

type Instruction = { readonly word: string; readonly rest: string };

type Image = {
  readonly folder: string;
  readonly env: Record<string, string>;
  cwd: string;
  user: string;
  command: string[];
  healthCheck: string[];
};
/** By the name of their stage. */
type Images = ReadonlyMap<string, Image>;

/** Instructions without effect in this test. */
const declarations = new Set(['FROM', 'VOLUME', 'EXPOSE', 'STOPSIGNAL']);

/** The instructions of each stage, FROM first. */
function stagesOf(text: string): Instruction[][] {
  const stages: Instruction[][] = [];
  for (const [, word = '', rest = ''] of text.matchAll(/^(\w+) +(.*)$/gm)) {
    if (word === 'FROM') stages.push([]);
    stages.at(-1)?.push({ word, rest });
  }
  return stages;
}

export async function runContainer(): Promise<readonly Row[]> {
  const stages = stagesOf(readFileSync(join(root, 'deploy/container/Containerfile'), 'utf8'));
  const folder = cacheFolder('container');
  const base = makeBase(folder);
  const images = new Map<string, Image>();
  for (const [index, stage] of stages.entries()) {
    const name = / AS (\w+)$/.exec(stage[0]?.rest ?? '')?.[1] ?? 'last';
    images.set(name, buildStage(stage, join(folder, `stage-${index}`), base, images));
  }
  const image = images.get('last') as Image;
  const answer = serve(image);
  return [
    informational('Containerfile: steps executed in clean Debian roots', 'steps', stages.flat().length),
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

function buildStage(stage: readonly Instruction[], folder: string, base: string, images: Images): Image {
  rmSync(folder, { recursive: true, force: true });
  runProgram('cp', ['-a', '--reflink=auto', base, folder]);
  const image: Image = { folder, env: {}, cwd: '/', user: '0:0', command: [], healthCheck: [] };
  for (const instruction of stage) {
    process.stderr.write(`container: ${instruction.word} ${instruction.rest}\n`);
    execute(instruction, image, images);
  }
  return image;
}

/** @throws Error for an instruction that is not known here: then it would go unchecked */
function execute({ word, rest }: Instruction, image: Image, images: Images): void {
  if (word === 'RUN') chroot(image, ['sh', '-c', rest]);
  else if (word === 'COPY') copy(rest, image, images);
  else if (word === 'ENV') image.env[rest.split('=', 1)[0] as string] = rest.slice(rest.indexOf('=') + 1);
  else if (word === 'USER') image.user = rest;
  else if (word === 'CMD') image.command = JSON.parse(rest);
  else if (word === 'HEALTHCHECK') image.healthCheck = JSON.parse(rest.replace(/^.*?CMD /, ''));
  else if (word === 'WORKDIR') {
    image.cwd = rest;
    mkdirSync(join(image.folder, rest), { recursive: true });
  } else if (!declarations.has(word)) throw new Error(`Expected a known instruction, got \`${word}\``);
}

function copy(text: string, image: Image, images: Images): void {
  const found = /^(?:--from=(\S+) )?(\S+) (\S+)$/.exec(text);
  if (found === null) throw new Error(`Expected one source and one target for \`COPY\`, got "${text}"`);
  const [, from, source = '', target = ''] = found;
  const inside = join(image.folder, resolve(image.cwd, target));
  if (from === undefined) {
    // The committed files, as the builder sends them.
    runProgram('sh', ['-c', `git archive HEAD | tar -x -C '${inside}'`]);
    return;
  }
  const origin = join((images.get(from) as Image).folder, source);
  mkdirSync(dirname(inside), { recursive: true });
  runProgram('cp', ['-a', statSync(origin).isDirectory() ? `${origin}/.` : origin, inside]);
}

/** Runs a command in new namespaces with a clean environment. */
function chroot({ folder, env, cwd }: Image, command: readonly string[]): void {
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

function serve({ folder, env, cwd, user, command, healthCheck }: Image): {
  analyses: number;
  healthy: number;
} {
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
