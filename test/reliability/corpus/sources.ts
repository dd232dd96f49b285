/** Source files of the mutations: every format, odd and malformed containers, bombs and files without audio. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { amplificationFiles } from './amplification.ts';
import { type Encoding, encodings, makeClip } from './encodings.ts';
import { ffmpeg, generateFiles } from './generate.ts';
import { malformedFiles, type Source } from './malformed.ts';
import { nonAudioFiles } from './non-audio.ts';
import { oddContainers } from './odd-containers.ts';

export type Sources = {
  /** Mutated and spliced with one another. */
  readonly all: readonly Source[];
  /** Used rarely, since each costs much CPU time. */
  readonly bombs: readonly Source[];
  /** Regressions: crashes, excessive cost, wrong detection. */
  readonly crashers: readonly Source[];
};

const crashersFolder = fileURLToPath(new URL('crashers', import.meta.url));

const odd = (clip: string, folder: string): Encoding[] => {
  const picture = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1:r=5'];
  const key = [
    '-encryption_key',
    '76a6c65c5ea762046bd749a2e632ccbb',
    '-encryption_kid',
    'a7e61c373e219033c21091fa607bf3b8',
  ];
  const files: Readonly<Record<string, readonly string[]>> = {
    'encrypted.mp4': ['-c:a', 'aac', '-encryption_scheme', 'cenc-aes-ctr', ...key],
    'film.mp4': [...picture, '-c:v', 'mpeg4', '-c:a', 'aac', '-shortest'],
    'film.mkv': [...picture, '-c:v', 'mpeg4', '-c:a', 'libopus', '-shortest'],
    'two-streams.mkv': ['-map', '0:a', '-map', '0:a', '-c:a:0', 'libopus', '-c:a:1', 'flac'],
    'two-streams.mp4': ['-map', '0:a', '-map', '0:a', '-c:a', 'aac'],
    'cover.mp3': [
      ...picture,
      '-map',
      '0:a',
      '-map',
      '1:v',
      '-frames:v',
      '1',
      '-c:v',
      'png',
      '-disposition:v',
      'attached_pic',
    ],
    'other-codec.mkv': ['-c:a', 'ac3'],
    'other-codec.wav': ['-c:a', 'wmav2'],
    'other-codec.mp4': ['-c:a', 'ac3'],
    'speex.ogg': ['-ar', '16000', '-c:a', 'libspeex'],
  };
  return Object.entries(files).map(([file, options]) => ({
    name: file,
    recipe: ffmpeg(join(folder, file), '-i', clip, '-fflags', '+bitexact', ...options),
  }));
};

const silence = (file: string, ...options: string[]): Encoding => ({
  name: file,
  recipe: ffmpeg(
    join(cacheFolder('reliability/bombs'), file),
    ...['-f', 'lavfi', '-i', 'anullsrc=r=8000:cl=mono', '-t', '7200', '-fflags', '+bitexact', ...options],
  ),
});

const read = ({ name, recipe }: Encoding): Source => ({ name, bytes: readFileSync(recipe.file) });

/** The first rate and layout of each format. */
function oneOfEach(all: readonly Encoding[]): Encoding[] {
  const found = new Map<string, Encoding>();
  for (const encoding of all) {
    const format = encoding.name.replace(/, \d+ Hz.*/, '');
    if (!found.has(format)) found.set(format, encoding);
  }
  return [...found.values()];
}

export async function makeSources(): Promise<Sources> {
  const folder = cacheFolder('reliability/encodings');
  const clip = await makeClip(folder);
  const files = [...oneOfEach(encodings(clip, folder)), ...odd(clip, cacheFolder('reliability/odd'))];
  const bombs = [silence('two-hours.flac'), silence('two-hours.m4a', '-c:a', 'alac')];
  await generateFiles(
    'files of every format',
    [...files, ...bombs].map(({ recipe }) => recipe),
  );
  const recordings = files.map(read);
  const named = (part: string) => (recordings.find(({ name }) => name.startsWith(part)) as Source).bytes;
  const honest = {
    mp3: named('mp3 cbr'),
    m4a: named('m4a aac'),
    flac: named('flac'),
    ogg: named('ogg vorbis'),
  };
  const foreign = await nonAudioFiles(cacheFolder('reliability/foreign'));
  return {
    all: [...recordings, ...recordings, ...malformedFiles(honest), ...oddContainers(), ...foreign],
    bombs: bombs.map(read),
    crashers: [...readCrashers(), ...amplificationFiles(honest.flac)],
  };
}

function readCrashers(): Source[] {
  if (!existsSync(crashersFolder)) return [];
  const names = readdirSync(crashersFolder).sort();
  return names.map((name) => ({ name, bytes: readFileSync(join(crashersFolder, name)) }));
}
