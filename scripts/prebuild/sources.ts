/** Debian's source packages of FFmpeg and soxr. */
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ExpectedError } from '../run-script.ts';
import { run, sha256, step } from './step.ts';

export const sources = {
  ffmpeg: {
    version: '7:5.1.9-0+deb12u1',
    description: 'ffmpeg_5.1.9-0+deb12u1.dsc',
    files: {
      'ffmpeg_5.1.9-0+deb12u1.dsc': '055f82fca9a92f1d47216be2c2488d09373c7ca154806fbc36b0127c191d5104',
      'ffmpeg_5.1.9-0+deb12u1.debian.tar.xz':
        '71b20472ecd2764bc98e3229d34c0f7c8dcfe4a6cbacc23fd5604c23bac04632',
      'ffmpeg_5.1.9.orig.tar.xz': 'd9b593bb2ba93d4b50f74177e0cdcd41747e708596367deed0c30348a71dd176',
      'ffmpeg_5.1.9.orig.tar.xz.asc': '443e6cdfe1560aab22f90ec40a967866ee04d5bbea32bc32625bd6e514d589f4',
    },
  },
  libsoxr: {
    version: '0.1.3-4',
    description: 'libsoxr_0.1.3-4.dsc',
    files: {
      'libsoxr_0.1.3-4.dsc': 'ce1af0b2dda238ffb7ad2ccea606d132d4153a2bf1b63994fcebc7e0a8db8970',
      'libsoxr_0.1.3-4.debian.tar.xz': 'ae691692ccee841407c2fc7ebb2f25908ccd0adb256cf55944c71325cef14e71',
      'libsoxr_0.1.3.orig.tar.xz': 'b111c15fdc8c029989330ff559184198c161100a59312f5dc19ddeb9b5a15889',
    },
  },
} as const;

/** Source archives of Debian 12 at the mirrors of this machine. The hashes above protect the files, so apt needs no key. */
function debianArchives(): string {
  const mirrors = new Set(run('apt-get', ['indextargets', '--format', '$(REPO_URI)']).trim().split('\n'));
  const lines = [...mirrors].flatMap((mirror) => {
    if (/\/debian\/?$/.test(mirror)) return `deb-src [trusted=yes] ${mirror} bookworm main\n`;
    if (/\/debian-security\/?$/.test(mirror))
      return `deb-src [trusted=yes] ${mirror} bookworm-security main\n`;
    return [];
  });
  if (lines.length > 0) return lines.join('');
  throw new ExpectedError(
    'Expected a mirror of Debian in the sources of apt, got none: name a folder with the sources by --sources',
  );
}

function download(name: keyof typeof sources, folder: string): void {
  const apt = join(folder, 'apt');
  for (const name of ['lists/partial', 'cache/archives/partial'])
    mkdirSync(join(apt, name), { recursive: true });
  writeFileSync(join(apt, 'sources.list'), debianArchives());
  const options = [
    `Dir::Etc::sourcelist=${join(apt, 'sources.list')}`,
    'Dir::Etc::sourceparts=/dev/null',
    `Dir::State::lists=${join(apt, 'lists')}`,
    `Dir::Cache=${join(apt, 'cache')}`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  run('apt-get', [...options, 'update'], { cwd: folder });
  run('apt-get', [...options, 'source', '--download-only', `${name}=${sources[name].version}`], {
    cwd: folder,
  });
}

function verify(name: keyof typeof sources, folder: string): void {
  for (const [file, expected] of Object.entries(sources[name].files)) {
    const found = sha256(readFileSync(join(folder, file)));
    if (found !== expected)
      throw new ExpectedError(`Expected ${expected} for the SHA-256 of ${file}, got ${found}`);
  }
}

/** Returns the folder with the patched source. @param given a folder that holds the files already, or null */
export function unpackSource(cache: string, name: keyof typeof sources, given: string | null): string {
  const inputs = [JSON.stringify(sources[name])];
  const folder = step(cache, `source-${name}`, inputs, (folder) => {
    if (given === null) download(name, folder);
    else
      for (const file of Object.keys(sources[name].files))
        copyFileSync(join(given, file), join(folder, file));
    verify(name, folder);
    run('dpkg-source', ['--no-check', '-x', sources[name].description, 'tree'], { cwd: folder });
  });
  return join(folder, 'tree');
}
