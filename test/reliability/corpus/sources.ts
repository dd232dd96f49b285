/** Source files of the mutations: every format, malformed files and files without audio. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { type Encoding, encodings, ffmpeg, generateFiles, makeClip } from './encodings.ts';
import { amplificationFiles, type Honest, malformedFiles, type Source } from './malformed.ts';
import { nonAudioFiles } from './non-audio.ts';

export type Sources = {
  /** Mutated and spliced with one another. */
  readonly all: readonly Source[];
  /** Regressions, sent unchanged: crashes, excessive cost, wrong detection. */
  readonly crashers: readonly Source[];
};

const crashersFolder = fileURLToPath(new URL('crashers', import.meta.url));

/** With a picture, several streams, encryption, or a codec that its container has seldom. */
function odd(clip: string, folder: string): Encoding[] {
  const picture = ['-f', 'lavfi', '-i', 'color=red:s=64x64:d=1:r=5'];
  const key = ['-encryption_key', '76a6c65c5ea762046bd749a2e632ccbb'];
  const id = ['-encryption_kid', 'a7e61c373e219033c21091fa607bf3b8'];
  const cover = ['-map', '0:a', '-map', '1:v', '-frames:v', '1', '-c:v', 'png'];
  const files: Readonly<Record<string, readonly string[]>> = {
    'encrypted.mp4': ['-c:a', 'aac', '-encryption_scheme', 'cenc-aes-ctr', ...key, ...id],
    'film.mp4': [...picture, '-c:v', 'mpeg4', '-c:a', 'aac', '-shortest'],
    'film.mkv': [...picture, '-c:v', 'mpeg4', '-c:a', 'libopus', '-shortest'],
    'two-streams.mkv': ['-map', '0:a', '-map', '0:a', '-c:a:0', 'libopus', '-c:a:1', 'flac'],
    'two-streams.mp4': ['-map', '0:a', '-map', '0:a', '-c:a', 'aac'],
    'cover.mp3': [...picture, ...cover, '-disposition:v', 'attached_pic'],
    'other-codec.mkv': ['-c:a', 'ac3'],
    'other-codec.wav': ['-c:a', 'wmav2'],
    'other-codec.mp4': ['-c:a', 'ac3'],
    'speex.ogg': ['-ar', '16000', '-c:a', 'libspeex'],
  };
  return Object.entries(files).map(([file, options]) => ({
    name: file,
    recipe: ffmpeg(join(folder, file), '-i', clip, '-fflags', '+bitexact', ...options),
  }));
}

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

async function encodedClip(): Promise<{ readonly clip: string; readonly files: readonly Encoding[] }> {
  const folder = cacheFolder('reliability/encodings');
  const clip = await makeClip(folder);
  const files = oneOfEach(encodings(clip, folder));
  await generateFiles(
    'files of every format',
    files.map(({ recipe }) => recipe),
  );
  return { clip, files };
}

const honestNames = { mp3: 'mp3 cbr', m4a: 'm4a aac', flac: 'flac', caf: 'caf alac', aiff: 'aiff pcm_s16be' };

function honestOf(files: readonly Encoding[]): Honest {
  const found = Object.entries(honestNames).map(([format, name]) => [
    format,
    read(files.find((file) => file.name.startsWith(`${name}, `)) as Encoding).bytes,
  ]);
  return Object.fromEntries(found);
}

export async function makeMalformed(): Promise<readonly Source[]> {
  return malformedFiles(honestOf((await encodedClip()).files));
}

export async function makeSources(): Promise<Sources> {
  const { clip, files } = await encodedClip();
  const others = odd(clip, cacheFolder('reliability/odd'));
  await generateFiles(
    'files of odd formats',
    others.map(({ recipe }) => recipe),
  );
  const recordings = [...files, ...others].map(read);
  const honest = honestOf(files);
  const foreign = await nonAudioFiles(cacheFolder('reliability/foreign'));
  return {
    all: [...recordings, ...recordings, ...malformedFiles(honest), ...foreign],
    crashers: [...readCrashers(), ...amplificationFiles(honest.m4a)],
  };
}

function readCrashers(): Source[] {
  const names = readdirSync(crashersFolder).sort();
  return names.map((name) => ({ name, bytes: readFileSync(join(crashersFolder, name)) }));
}
