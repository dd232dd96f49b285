// Brings a clone to where it can run: system packages, npm packages, native build, the service and its pages.
// Runs before node_modules exists, so only Node's own modules may be imported here. Every step is
// skipped when nothing that it depends on has changed.
//   node scripts/setup.mjs [--tests]

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import * as path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
// Not in build/: cmake-js empties that folder when a build fails.
const logFile = path.join(root, '.cache', 'setup.log');
const stampFile = path.join(root, '.cache', 'setup.json');
const addons = ['undertone', 'undertone_process'].map((name) =>
  path.join(root, 'build', 'Release', `${name}.node`),
);
const entry = path.join(root, 'dist', 'src', 'cli.js');
const page = path.join(root, 'dist', 'web', 'index.html');
const client = path.join(root, 'clients', 'typescript', 'dist', 'index.js');
const types = path.join('clients', 'typescript', 'src', 'schema.ts');

const runtimePackages = [
  'g++',
  'make',
  'cmake',
  'pkg-config',
  'libavformat-dev',
  'libavcodec-dev',
  'libavutil-dev',
  'libsoxr-dev',
];
const testPackages = [
  'ffmpeg',
  'espeak-ng',
  'sox',
  'libsox-fmt-base',
  'doctest-dev',
  'curl',
  'postgresql',
  'redis-server',
  'python3-venv',
  'valgrind',
];

function say(line) {
  process.stderr.write(`undertone: ${line}\n`);
}

function stop(...lines) {
  for (const line of lines) say(line);
  process.exit(1);
}

/** Runs one tool with its output in .cache/setup.log; shows that output and stops when the tool fails. */
function run(command, args, environment = {}) {
  const start = fs.existsSync(logFile) ? fs.statSync(logFile).size : 0;
  fs.appendFileSync(logFile, `$ ${[command, ...args].join(' ')}\n`);
  const log = fs.openSync(logFile, 'a');
  const env = { ...process.env, ...environment };
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', log, log], env });
  fs.closeSync(log);
  if (result.status === 0) return;
  process.stderr.write(fs.readFileSync(logFile).subarray(start));
  if (result.error) stop(`\`${command}\` could not be run: ${result.error.message}`);
  stop(`\`${command}\` failed (${result.signal ?? `exit code ${result.status}`}); the log is ${logFile}`);
}

function step(title, work) {
  const started = Date.now();
  say(`${title}, with output in ${path.relative(root, logFile)} ...`);
  work();
  say(`${title}: done in ${((Date.now() - started) / 1000).toFixed(1)} s`);
}

function requireNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > 20 || (major === 20 && minor >= 19)) return;
  stop(`Expected Node.js 20.19 or later, got ${process.versions.node}`);
}

/** Ubuntu has Chromium as a snap only. */
function chromiumPackages() {
  if (fs.existsSync('/usr/bin/chromium')) return [];
  const release = fs.existsSync('/etc/os-release') ? fs.readFileSync('/etc/os-release', 'utf8') : '';
  if (!/^ID=ubuntu$/m.test(release)) return ['chromium'];
  return [];
}

function missingPackages(names) {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: dpkg-query's own placeholders
  const query = spawnSync('dpkg-query', ['-W', '-f', '${db:Status-Status} ${Package}\n', ...names]);
  if (query.error) {
    say(`not a Debian system: these packages, or their like, must be there: ${names.join(' ')}`);
    return [];
  }
  const installed = new Set(String(query.stdout).split('\n'));
  return names.filter((name) => !installed.has(`installed ${name}`));
}

function installSystemPackages(names) {
  const missing = missingPackages(names);
  if (missing.length === 0) return;
  const isRoot = process.getuid?.() === 0;
  const sudo = isRoot ? null : spawnSync('sudo', ['-n', 'true']);
  if (sudo && sudo.status !== 0) {
    const command = `apt-get update && apt-get install -y --no-install-recommends ${missing.join(' ')}`;
    say('system packages are missing; run this line, then try again:');
    process.stderr.write(`${sudo.error ? 'su -c' : 'sudo sh -c'} '${command}'\n`);
    process.exit(1);
  }
  // apt refuses to wait for the lock on its lists, which the set-up of another clone may hold.
  const lock = ['flock', '/var/lib/dpkg'];
  const apt = [...lock, 'env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-o', 'DPkg::Lock::Timeout=600'];
  const [command, ...prefix] = isRoot ? apt : ['sudo', '-n', ...apt];
  step(`installing system packages (${missing.join(' ')})`, () => {
    run(command, [...prefix, 'update']);
    run(command, [...prefix, 'install', '-y', '--no-install-recommends', ...missing]);
  });
}

function readJson(file) {
  try {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

/** Compares the lock with npm's own record of what lies in node_modules. */
function npmPackagesMatch() {
  const wanted = readJson(path.join(root, 'package-lock.json')).packages ?? {};
  const found = readJson(path.join(root, 'node_modules', '.package-lock.json')).packages ?? {};
  const folders = Object.keys(wanted).filter((folder) => folder !== '');
  const matches = (folder) => {
    const there = found[folder];
    if (!there) return wanted[folder].optional === true || wanted[folder].devOptional === true;
    return there.version === wanted[folder].version && there.integrity === wanted[folder].integrity;
  };
  return Object.keys(found).length > 0 && folders.every(matches);
}

function filesUnder(folder) {
  const absolute = path.join(root, folder);
  if (!fs.existsSync(absolute)) return [];
  if (fs.statSync(absolute).isFile()) return [folder];
  return fs
    .readdirSync(absolute)
    .sort()
    .flatMap((name) => filesUnder(path.join(folder, name)));
}

/** Hashes the names and contents of files, and the locked versions of npm packages. */
function digest(paths, packages) {
  const hash = createHash('sha256');
  for (const file of paths.flatMap(filesUnder)) {
    hash
      .update(`${file}\0`)
      .update(fs.readFileSync(path.join(root, file)))
      .update('\0');
  }
  const locked = readJson(path.join(root, 'package-lock.json')).packages ?? {};
  for (const name of packages) hash.update(`${name}@${locked[`node_modules/${name}`]?.version}\0`);
  return hash.digest('hex');
}

/** Runs a build unless its results are there and were made from the same sources. */
function build(name, title, sources, results, work) {
  const stamps = readJson(stampFile);
  if (stamps[name] === sources && results.every((result) => fs.existsSync(result))) return;
  step(title, work);
  fs.writeFileSync(stampFile, `${JSON.stringify({ ...readJson(stampFile), [name]: sources }, null, 2)}\n`);
}

function main() {
  requireNode();
  const unknown = process.argv.slice(2).filter((argument) => argument !== '--tests');
  if (unknown.length > 0) stop(`Expected --tests or no argument, got ${unknown.join(' ')}`);
  const tests = process.argv.includes('--tests');
  fs.mkdirSync(path.dirname(logFile), { recursive: true });
  fs.rmSync(logFile, { force: true });
  installSystemPackages(
    tests ? [...runtimePackages, ...testPackages, ...chromiumPackages()] : runtimePackages,
  );
  if (!npmPackagesMatch()) {
    // The native build has a step of its own below, and no dependency needs an install script.
    step('installing npm packages', () => run('npm', ['ci', '--include=dev', '--ignore-scripts']));
  }
  const native = digest(['CMakeLists.txt', 'native'], ['cmake-js', 'node-addon-api']);
  build('native', 'building the native code', native, addons, () =>
    run('npm', ['run', 'install'], { CMAKE_BUILD_PARALLEL_LEVEL: '2' }),
  );
  // The packages are in what is built.
  const service = digest(['rolldown.config.mjs', 'package-lock.json', 'src', 'docs'], []);
  build('service', 'building the service', service, [entry], () => run('npm', ['run', 'build:service']));
  const pages = digest(['package-lock.json', 'web', 'src', 'docs', 'examples'], []);
  build('pages', 'building the pages', pages, [page], () => run('npm', ['run', 'build:pages']));
  // Its types are made from the API document, in src.
  const written = filesUnder('clients/typescript/src').filter((file) => file !== types);
  const clients = digest(
    ['src', 'scripts/clients.ts', 'clients/typescript/tsconfig.json', ...written],
    ['typescript', 'openapi-typescript'],
  );
  build('client', 'building the TypeScript client', clients, [path.join(root, types), client], () =>
    run('npm', ['run', 'prepare', '--prefix', 'clients/typescript']),
  );
}

try {
  main();
} catch (error) {
  if (error.syscall === undefined) throw error;
  stop(error.message);
}
