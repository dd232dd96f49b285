/** One recording as services receive it: with gaps in its timestamps, and with sizes that are not true. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ffmpeg, generateFiles } from './encodings.ts';

export type Altered = {
  readonly name: string;
  readonly bytes: Buffer;
  /** That the report has, in place of the measures of the intact recording. */
  readonly warning: string | null;
};

const headerBytes = 44;
/** Samples of 20 ms. */
const packet = 320;
/** Of full scale. */
const quiet = 0.01;
/** Packets next to speech that encoders send. */
const hangover = 4;

/** Runs of packets in pauses. @param wav mono at 16 kHz, 16 bits */
function quietRuns(wav: Buffer): [number, number][] {
  const samples = Array.from({ length: (wav.length - headerBytes) >> 1 }, (_, index) =>
    wav.readInt16LE(headerBytes + 2 * index),
  );
  const runs: [number, number][] = [];
  let start = 0;
  for (let index = 0; index * packet < samples.length; index++) {
    const own = samples.slice(index * packet, (index + 1) * packet);
    if (own.every((sample) => Math.abs(sample) < quiet * 32_768)) continue;
    if (index - start > 3 * hangover) runs.push([start + hangover, index - hangover]);
    start = index + 1;
  }
  return runs;
}

const drop = (runs: readonly (readonly [number, number])[]) =>
  `noise=drop='${runs.map(([from, to]) => `between(n,${from},${to})`).join('+')}'`;

/** The first one is intact. @param recording a file @param folder for the files that ffmpeg makes */
export async function alteredRecordings(recording: string, folder: string): Promise<readonly Altered[]> {
  const source = join(folder, 'intact.wav');
  const plain = ['-ac', '1', '-ar', '16000', '-map_metadata', '-1', '-fflags', '+bitexact'];
  await generateFiles('an intact recording', [ffmpeg(source, '-i', recording, ...plain)]);
  const wav = readFileSync(source);
  const endings = ['webm', 'ogg', 'mp4', 'mkv'];
  const opus = ['-c:a', 'libopus', '-frame_duration', '20', '-ar', '48000', '-ac', '1'];
  const gapsOf = (name: string, runs: readonly (readonly [number, number])[], warning: string | null) =>
    endings.map((ending) => ({
      name: `${name}.${ending}`,
      recipe: ffmpeg(join(folder, `${name}.${ending}`), '-i', source, ...opus, '-bsf:a', drop(runs)),
      warning,
    }));
  const video = ['-f', 'lavfi', '-t', '10', '-i', 'color=s=64x64:r=10', '-c:v', 'mpeg4', '-c:a', 'aac'];
  const late = ['mp4', 'mkv'].map((ending) => ({
    name: `late.${ending}`,
    recipe: ffmpeg(
      join(folder, `late.${ending}`),
      '-itsoffset',
      '2.94',
      '-i',
      source,
      ...video,
      '-map',
      '1',
      '-map',
      '0',
    ),
    warning: null,
  }));
  const made = [
    ...gapsOf('pauses not sent', quietRuns(wav), null),
    ...gapsOf('5 s lost', [[400, 649]], 'gaps'),
    ...late,
  ];
  await generateFiles(
    'altered recordings',
    made.map(({ recipe }) => recipe),
  );
  const files = made.map(({ name, recipe, warning }) => ({
    name,
    bytes: readFileSync(recipe.file),
    warning,
  }));
  return [{ name: 'intact.wav', bytes: wav, warning: null }, ...files, ...untrueSizes(wav)];
}

function untrueSizes(wav: Buffer): Altered[] {
  const firstBuffer = Buffer.from(wav);
  firstBuffer.writeUInt32LE(4096, 40);
  return [
    { name: 'size of the first buffer.wav', bytes: firstBuffer, warning: null },
    { name: 'two files in one.wav', bytes: Buffer.concat([wav, wav]), warning: 'unread_data' },
  ];
}
