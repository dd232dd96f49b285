/** Copies of a recording whose scores must be equal. */
import { basename, extname, join } from 'node:path';
import { ffmpeg, generateFiles, type Recipe } from './generate.ts';

export const groups = ['container', 'rate', 'gain', 'channels', 'silence'] as const;

export type Group = (typeof groups)[number];

export type Transformation = {
  readonly group: Group;
  readonly name: string;
  /** End of the file's name. */
  readonly ending: string;
  /** The reference: 'plain', or 'narrow' for copies without frequencies over 4 kHz. */
  readonly from: 'plain' | 'narrow';
  readonly program: 'ffmpeg' | 'sox';
  readonly options: readonly string[];
};

const container = (name: string, ending: string, ...options: string[]): Transformation => ({
  group: 'container',
  name,
  ending,
  from: 'plain',
  program: 'ffmpeg',
  options: ['-fflags', '+bitexact', ...options],
});

const filtered = (group: Group, name: string, ...options: string[]): Transformation => ({
  ...container(name, `${name.replaceAll(/\W+/g, '-')}.wav`, ...options),
  group,
});

const rate = (hertz: number): Transformation => ({
  group: 'rate',
  name: `${hertz / 1000} kHz`,
  ending: `${hertz}.wav`,
  from: 'narrow',
  program: 'sox',
  options: ['-D', '-r', `${hertz}`],
});

export const transformations: readonly Transformation[] = [
  container('WAV, 24 bit', 's24.wav', '-c:a', 'pcm_s24le'),
  container('FLAC', 'flac', '-c:a', 'flac'),
  container('MP3, 128 kbit/s', 'mp3', '-c:a', 'libmp3lame', '-b:a', '128k'),
  container('M4A, AAC 128 kbit/s', 'm4a', '-c:a', 'aac', '-b:a', '128k'),
  container('Ogg, Vorbis quality 5', 'ogg', '-c:a', 'libvorbis', '-q:a', '5'),
  container('WebM, Opus 64 kbit/s', 'webm', '-c:a', 'libopus', '-b:a', '64k'),
  ...[8000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000].map(rate),
  filtered('gain', '12 dB softer', '-af', 'volume=-12dB'),
  filtered('gain', '12 dB louder', '-af', 'volume=12dB'),
  filtered('channels', 'stereo', '-ac', '2'),
  filtered('silence', '1 s before', '-af', 'adelay=1000'),
  filtered('silence', '1 s after', '-af', 'apad=pad_dur=1'),
];

export type Copy = { readonly transformation: Transformation; readonly file: string };

/** One recording, its references and its copies. */
export type Family = { readonly plain: string; readonly narrow: string; readonly copies: readonly Copy[] };

/** Peak at -13 dB, so that there is room for the louder copy, 16 bits, one channel. */
const room = ['-D', '--norm=-13'];

function familyOf(recording: string, folder: string): Family {
  const place = (ending: string) => join(folder, `${basename(recording, extname(recording))}.${ending}`);
  const copies = transformations.map((transformation) => ({
    transformation,
    file: place(transformation.ending),
  }));
  return { plain: place('plain.wav'), narrow: place('narrow.wav'), copies };
}

function copyOf({ plain, narrow }: Family, { transformation, file }: Copy): Recipe {
  const { program, options, from } = transformation;
  if (program === 'ffmpeg') return ffmpeg(file, '-i', plain, ...options);
  const source = from === 'narrow' ? narrow.replace('.narrow.', '.8k.') : plain;
  return { file, program, arguments: [source, ...options] };
}

/** Writes copies to `folder`; names of recordings must differ. */
export async function makeFamilies(recordings: readonly string[], folder: string): Promise<Family[]> {
  const families = recordings.map((recording) => familyOf(recording, folder));
  const places = families.map(({ plain, narrow }) => ({
    decoded: plain.replace('.plain.', '.decoded.'),
    eight: narrow.replace('.narrow.', '.8k.'),
    plain,
    narrow,
  }));
  const sox = (file: string, ...options: string[]): Recipe => ({ file, program: 'sox', arguments: options });
  await generateFiles(
    'recordings',
    places.map(({ decoded }, index) =>
      ffmpeg(decoded, '-i', recordings[index] as string, '-ac', '1', '-c:a', 'pcm_f32le'),
    ),
  );
  await generateFiles(
    'plain copies',
    places.map(({ plain, decoded }) => sox(plain, decoded, ...room, '-b', '16')),
  );
  await generateFiles(
    'narrow copies',
    places.map(({ plain, eight }) => sox(eight, plain, '-D', '-r', '8000')),
  );
  await generateFiles(
    'narrow copies at 16 kHz',
    places.map(({ eight, narrow }) => sox(narrow, eight, '-D', '-r', '16000')),
  );
  await generateFiles(
    'changed copies',
    families.flatMap((family) => family.copies.map((copy) => copyOf(family, copy))),
  );
  return families;
}
