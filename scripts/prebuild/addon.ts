/** The addons, built against the libraries that lie next to them in the package. */
import { join } from 'node:path';
import { digest, root, run, step } from './step.ts';
import type { Arch, Toolchain } from './toolchain.ts';

/** Targets of CMakeLists.txt. */
export const addons = ['undertone', 'undertone_process'] as const;

/** Returns the folder of both addons. */
export function buildAddons(cache: string, arch: Arch, { file, env }: Toolchain, libraries: string): string {
  const native = digest([
    'CMakeLists.txt',
    'native',
    'package-lock.json',
    'scripts/prebuild/addon.ts',
    'scripts/prebuild/addon.map',
    'scripts/prebuild/toolchain.ts',
  ]);
  return step(cache, `addon-${arch}`, [native, libraries], (folder) => {
    const exported = join(root, 'scripts/prebuild/addon.map');
    const options = [
      `-DCMAKE_TOOLCHAIN_FILE=${file}`,
      // CMakeLists.txt builds the addon when cmake-js, or this, names the headers.
      '-DCMAKE_JS_VERSION=prebuild',
      `-DCMAKE_JS_INC=${join(root, 'node_modules/node-api-headers/include')}`,
      '-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON',
      '-DCMAKE_INSTALL_RPATH=$ORIGIN',
      // libc++ is linked in, and none of its symbols may meet those of Node.js.
      `-DCMAKE_SHARED_LINKER_FLAGS=-s -Wl,--version-script=${exported}`,
    ];
    const packages = {
      PKG_CONFIG_LIBDIR: join(libraries, 'usr/lib/pkgconfig'),
      PKG_CONFIG_SYSROOT_DIR: libraries,
    };
    run('cmake', [...options, root], { cwd: folder, env: { ...env, ...packages } });
    run('cmake', ['--build', folder, '--target', ...addons, '--parallel', '2'], { env });
  });
}
