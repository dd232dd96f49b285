/** FFmpeg with nothing but the decoders and demuxers of native/core/decode, and soxr: shared libraries under the LGPL. */
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { digest, root, run, step } from './step.ts';
import { type Arch, processors, type Toolchain } from './toolchain.ts';

const sourceOf = (name: string) => readFileSync(join(root, 'native/core/decode', name), 'utf8');

/** The decoders that the addon opens; FFmpeg's switches call g722 and g726 adpcm_g722 and adpcm_g726. */
export const decoders = [...sourceOf('decoder.cc').matchAll(/\{AV_CODEC_ID_\w+, "(\w+)"\}/g)].map(
  ([, name]) => (name as string).replace(/^g7/, 'adpcm_g7'),
);

export const demuxers = [
  ...(/kNames\[\] = \{([^}]+)\}/.exec(sourceOf('demuxer.cc'))?.[1] ?? '').matchAll(/"(\w+)"/g),
].map(([, name]) => name as string);

const parsers = ['mpegaudio', 'aac', 'flac', 'opus', 'vorbis', 'gsm'];

/** Without the parts that differ between machines. */
export const switches = [
  '--disable-autodetect --disable-everything --disable-gpl --disable-nonfree --disable-programs --disable-doc',
  '--disable-network --disable-avdevice --disable-avfilter --disable-swscale --disable-debug --disable-stripping',
  '--enable-pthreads --enable-shared --disable-static --enable-pic',
  `--enable-demuxer=${demuxers.join(',')} --enable-decoder=${decoders.join(',')} --enable-parser=${parsers.join(',')}`,
].join(' ');

function buildFfmpeg(source: string, folder: string, arch: Arch, { env }: Toolchain): void {
  const tree = join(folder, 'ffmpeg');
  cpSync(source, tree, { recursive: true, verbatimSymlinks: true });
  const cross = `--prefix=/usr --enable-cross-compile --target-os=linux --arch=${processors[arch]}`;
  const tools =
    '--cc=undertone-cc --cxx=undertone-c++ --ld=undertone-cc --ar=undertone-ar --ranlib=undertone-ranlib --nm=nm';
  const options = `${cross} ${tools} ${switches} --extra-ldflags=-s`.split(' ');
  // The shell of configure, make (twice) and the shell of make each read the flag.
  run('./configure', [...options, String.raw`--extra-ldsoflags=-Wl,-rpath,\\\$\$\$\$ORIGIN`], {
    cwd: tree,
    env,
  });
  // The function exists in glibc 2.28, its header does not come with Zig.
  const config = join(tree, 'config.h');
  writeFileSync(
    config,
    readFileSync(config, 'utf8').replace('#define HAVE_SYSCTL 1', '#define HAVE_SYSCTL 0'),
  );
  run('make', ['-j2'], { cwd: tree, env });
  run('make', ['install', `DESTDIR=${folder}`], { cwd: tree, env });
}

function buildSoxr(source: string, folder: string, { file, env }: Toolchain): void {
  const build = join(folder, 'soxr');
  mkdirSync(build);
  const off = ['BUILD_TESTS', 'WITH_OPENMP', 'WITH_LSR_BINDINGS', 'WITH_DEV_TRACE'].map(
    (name) => `-D${name}=OFF`,
  );
  const options = [
    '-DCMAKE_BUILD_TYPE=Release',
    '-DCMAKE_INSTALL_PREFIX=/usr',
    '-DCMAKE_SHARED_LINKER_FLAGS=-s',
  ];
  // CMake 4 configures soxr's minimum of 3.1 only with this.
  const policy = '-DCMAKE_POLICY_VERSION_MINIMUM=3.5';
  run('cmake', ['-Wno-dev', `-DCMAKE_TOOLCHAIN_FILE=${file}`, ...options, ...off, policy, source], {
    cwd: build,
    env,
  });
  run('cmake', ['--build', build, '--parallel', '2'], { env });
  cpSync(join(source, 'COPYING.LGPL'), join(folder, 'COPYING.soxr'));
  run('cmake', ['--install', build], { env: { ...env, DESTDIR: folder } });
}

/** Returns the folder that both are installed in. */
export function buildLibraries(
  cache: string,
  arch: Arch,
  toolchain: Toolchain,
  trees: { readonly ffmpeg: string; readonly libsoxr: string },
): string {
  const inputs = [
    arch,
    switches,
    trees.ffmpeg,
    trees.libsoxr,
    digest(['scripts/prebuild/libraries.ts', 'scripts/prebuild/toolchain.ts']),
  ];
  return step(cache, `libraries-${arch}`, inputs, (folder) => {
    buildFfmpeg(trees.ffmpeg, folder, arch, toolchain);
    buildSoxr(trees.libsoxr, folder, toolchain);
  });
}
