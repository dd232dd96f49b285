/** One file for each format, rate and layout, made from one short clip of speech. */
import { join } from 'node:path';
import { type Format, formats } from './formats.ts';
import { ffmpeg, generateFiles, type Recipe } from './generate.ts';

export type Encoding = { readonly name: string; readonly recipe: Recipe };

/** Without dates and versions, so that every run makes the same bytes. */
const exact = ['-map_metadata', '-1', '-fflags', '+bitexact', '-flags:a', '+bitexact'];
const sentence = 'Six wise owls watch.';

/** About 1.4 s at 48 kHz. */
export async function makeClip(folder: string): Promise<string> {
  const file = join(folder, 'clip.wav');
  const spoken = join(folder, 'spoken.wav');
  await generateFiles('speech', [
    { file: spoken, program: 'espeak-ng', arguments: ['-v', 'en-us', '-s', '170', sentence, '-w'] },
  ]);
  await generateFiles('speech', [
    { file, program: 'sox', arguments: ['-D', '--norm=-3', spoken, '-r', '48000'] },
  ]);
  return file;
}

function encodingsOf({ name, ending, options, rates, channels }: Format, clip: string, folder: string) {
  return rates.flatMap((rate) =>
    channels.map((count): Encoding => {
      const title = `${name}, ${rate} Hz, ${count} ch`;
      const file = join(folder, `${title.replaceAll(/[^\w.]+/g, '-')}.${ending}`);
      const layout = ['-ar', `${rate}`, '-ac', `${count}`];
      return { name: title, recipe: ffmpeg(file, '-i', clip, ...exact, ...layout, ...options) };
    }),
  );
}

/** AMR-NB at each of its eight rates, and formats that only sox writes. */
function encodingsOfSox(clip: string, folder: string): Encoding[] {
  const amr = Array.from({ length: 8 }, (_, mode): Encoding => {
    const file = join(folder, `amr-mode-${mode}.amr-nb`);
    return {
      name: `amr, mode ${mode}`,
      recipe: { file, program: 'sox', arguments: ['-D', clip, '-r', '8000', '-c', '1', '-C', `${mode}`] },
    };
  });
  const rifx = [8, 16, 24, 32].map((bits): Encoding => {
    const options = [
      '-D',
      clip,
      '-r',
      '16000',
      '-b',
      `${bits}`,
      ...(bits === 8 ? ['-e', 'unsigned'] : []),
      '-B',
    ];
    return {
      name: `rifx, ${bits} bit`,
      recipe: { file: join(folder, `rifx-${bits}.wav`), program: 'sox', arguments: options },
    };
  });
  return [...amr, ...rifx];
}

export function encodings(clip: string, folder: string): readonly Encoding[] {
  return [...formats.flatMap((format) => encodingsOf(format, clip, folder)), ...encodingsOfSox(clip, folder)];
}
