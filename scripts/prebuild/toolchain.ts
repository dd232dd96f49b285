/** Zig's C and C++ compiler, which targets an older glibc than the one of this machine. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, run, step } from './step.ts';

export const processors = { x64: 'x86_64', arm64: 'aarch64' } as const;
export type Arch = keyof typeof processors;
export const glibc = '2.28';

export type Toolchain = {
  /** For CMake. */
  readonly file: string;
  /** Puts `undertone-cc`, `undertone-c++`, `undertone-ar` and `undertone-ranlib` on the path. */
  readonly env: Readonly<Record<string, string>>;
};

/** Zig names every feature of the processor, so AVX-512 needs evex512 too. The last flag overrides CMakeLists.txt. */
const compiler = (zig: string, tool: string, target: string) => `#!/bin/sh
case "$*" in *-mavx512f*) set -- "$@" -mevex512 ;; esac
exec ${zig} ${tool} -target ${target} -fno-sanitize=undefined -g0 -ffile-prefix-map=${root}=. "$@" -Wno-error
`;

function installZig(cache: string): string {
  const requirements = join(root, 'scripts/prebuild/requirements.txt');
  const folder = step(cache, 'zig', [readFileSync(requirements, 'utf8')], (folder) => {
    run('python3', ['-m', 'venv', folder]);
    run(join(folder, 'bin/pip'), ['install', '--quiet', '--require-hashes', '--no-deps', '-r', requirements]);
  });
  const python = readdirSync(join(folder, 'lib'))[0] as string;
  return join(folder, 'lib', python, 'site-packages/ziglang/zig');
}

export function createToolchain(cache: string, arch: Arch): Toolchain {
  const zig = installZig(cache);
  const bin = join(cache, `bin-${arch}`);
  mkdirSync(bin, { recursive: true });
  const target = `${processors[arch]}-linux-gnu.${glibc}`;
  const tools: Readonly<Record<string, string>> = {
    'undertone-cc': compiler(zig, 'cc', target),
    'undertone-c++': compiler(zig, 'c++', target),
    'undertone-ar': `#!/bin/sh\nexec ${zig} ar "$@"\n`,
    'undertone-ranlib': `#!/bin/sh\nexec ${zig} ranlib "$@"\n`,
  };
  for (const [name, script] of Object.entries(tools)) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const file = join(bin, 'toolchain.cmake');
  writeFileSync(
    file,
    `set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${processors[arch]})
set(CMAKE_C_COMPILER ${bin}/undertone-cc)
set(CMAKE_CXX_COMPILER ${bin}/undertone-c++)
set(CMAKE_AR ${bin}/undertone-ar)
set(CMAKE_RANLIB ${bin}/undertone-ranlib)
`,
  );
  return {
    file,
    env: { PATH: `${bin}:${process.env.PATH}`, ZIG_GLOBAL_CACHE_DIR: join(cache, 'zig-cache') },
  };
}
