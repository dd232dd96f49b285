/** Synthetic speech of several voices, made by espeak-ng, and the recording that the project ships. */
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { generateFiles, type Recipe } from './generate.ts';

const text =
  'The quick brown fox jumps over the lazy dog, while six wise owls watch quietly from the old tree. ' +
  'She sells sea shells by the shore, and nobody asks how many of them she found this morning.';

/** Voice, words a minute, gap between words in tens of ms. */
const voices = [
  ['en-us', 190, 0],
  ['en-gb+f3', 160, 0],
  ['en-us+m4', 140, 2],
  ['en-gb+f2', 120, 8],
  ['de+m2', 150, 4],
  ['fr+f4', 150, 0],
] as const;

const placeOf = (voice: string) => join(cacheFolder('reliability/recordings'), `${voice}.wav`);

function speech(voice: string, words: number, gap: number): Recipe {
  const options = ['-v', voice, '-s', `${words}`, '-g', `${gap}`, text, '-w'];
  return { file: placeOf(voice), program: 'espeak-ng', arguments: options };
}

/** Paths of WAV files, about 10 s each. */
export async function spokenRecordings(): Promise<readonly string[]> {
  await generateFiles(
    'speech',
    voices.map(([voice, words, gap]) => speech(voice, words, gap)),
  );
  return [...voices.map(([voice]) => placeOf(voice)), join(root, 'examples', 'sample.wav')];
}
