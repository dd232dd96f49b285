/** The same speech in other containers, rates, levels, channels and with silence around it gives the same scores. */
import { basename, join } from 'node:path';
import test from 'ava';
import { cacheFolder } from '../../benchmarks/case.ts';
import { ffmpeg, generateFiles, type Recipe } from '../reliability/corpus/encodings.ts';
import { runCli } from '../support/cli.ts';

const bound = 0.05;
const folder = cacheFolder('metamorphic');
const inFolder = (name: string) => join(folder, name);

const sentences = 'test/speech/en-gb+f3-160.flac';
const spoken = inFolder('long.wav');
const voices = { sample: 'examples/sample.wav', long: spoken };
type Voice = keyof typeof voices;

const sox = (file: string, ...options: string[]): Recipe => ({ file, program: 'sox', arguments: options });

/** Peak at -13 dB, so that there is room for the louder copy. `narrow`: without frequencies over 4 kHz. */
const references = ['plain', 'narrow'] as const;
type Reference = (typeof references)[number];
const referenceOf = (voice: Voice, reference: Reference) => inFolder(`${voice}.${reference}.wav`);

/** Options of ffmpeg for a copy of the plain reference; those of `rate` are resampled by sox from the narrow one. */
const copies: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  container: {
    's24.wav': ['-c:a', 'pcm_s24le'],
    flac: [],
    mp3: ['-b:a', '128k'],
    m4a: ['-b:a', '128k'],
    ogg: ['-c:a', 'libvorbis', '-q:a', '5'],
    webm: ['-c:a', 'libopus', '-b:a', '64k'],
  },
  rate: Object.fromEntries(
    [8000, 11_025, 12_000, 22_050, 24_000, 32_000, 44_100, 48_000].map((rate) => [
      `${rate}.wav`,
      ['-r', `${rate}`],
    ]),
  ),
  gain: { 'softer.wav': ['-af', 'volume=-12dB'], 'louder.wav': ['-af', 'volume=12dB'] },
  channels: { 'stereo.wav': ['-ac', '2'] },
  silence: { 'before.wav': ['-af', 'adelay=1000'], 'after.wav': ['-af', 'apad=pad_dur=1'] },
};

const copyOf = (voice: Voice, ending: string) => inFolder(`${voice}.${ending}`);
const everyVoice = Object.keys(voices) as Voice[];

function recipesOf(voice: Voice): Recipe[] {
  return Object.entries(copies).flatMap(([group, endings]) =>
    Object.entries(endings).map(([ending, options]) =>
      group === 'rate'
        ? sox(copyOf(voice, ending), copyOf(voice, '8k.wav'), '-D', ...options)
        : ffmpeg(copyOf(voice, ending), '-i', referenceOf(voice, 'plain'), ...options),
    ),
  );
}

type Scores = Readonly<Record<string, number>>;
let scores: ReadonlyMap<string, Scores> = new Map();

test.before('makes the copies and analyses them', async () => {
  const make = (what: string, recipe: (one: Voice) => Recipe) => generateFiles(what, everyVoice.map(recipe));
  await generateFiles('speech', [sox(spoken, '-D', sentences, sentences, sentences)]);
  await make('references', (one) =>
    sox(referenceOf(one, 'plain'), voices[one], '-D', '--norm=-13', '-b', '16'),
  );
  await make('narrow copies', (one) =>
    sox(copyOf(one, '8k.wav'), referenceOf(one, 'plain'), '-D', '-r', '8000'),
  );
  await make('narrow references', (one) =>
    sox(referenceOf(one, 'narrow'), copyOf(one, '8k.wav'), '-D', '-r', '16000'),
  );
  const recipes = everyVoice.flatMap(recipesOf);
  await generateFiles('copies', recipes);
  const files = everyVoice.flatMap((one) => references.map((reference) => referenceOf(one, reference)));
  files.push(...recipes.map(({ file }) => file));
  const { stdout } = await runCli(['analyze', '--jsonl', '--list', '-'], { input: files.join('\n') });
  const lines = stdout.trimEnd().split('\n');
  scores = new Map(lines.map((line) => JSON.parse(line)).map((report) => [report.path, scoresOf(report)]));
});

function scoresOf({ emotion, cognitive }: Readonly<Record<string, { readonly signals: Scores }>>): Scores {
  const { valence, arousal } = emotion?.signals ?? {};
  const { cognitive_load, clarity, processing } = cognitive?.signals ?? {};
  return { valence, arousal, cognitive_load, clarity, processing } as Scores;
}

/** The score that moves most; infinite where one of the two has none. */
function distance(one: string, other: string): number {
  const [before, after] = [scores.get(one) ?? {}, scores.get(other) ?? {}];
  const moved = Object.entries(before).map(([name, value]) => Math.abs(value - (after[name] ?? Number.NaN)));
  const far = Math.max(...moved);
  return moved.length === 0 || Number.isNaN(far) ? Number.POSITIVE_INFINITY : far;
}

for (const [group, endings] of Object.entries(copies)) {
  test(`every score within ${bound} of the plain recording's: ${group}`, (t) => {
    for (const voice of everyVoice) {
      const reference = referenceOf(voice, group === 'rate' ? 'narrow' : 'plain');
      for (const ending of Object.keys(endings)) {
        const far = distance(reference, copyOf(voice, ending));
        t.true(far <= bound, `${basename(reference)} and ${ending} differ by ${far.toFixed(3)}`);
      }
    }
  });
}

test('negative control: another recording is further away', (t) => {
  t.true(distance(referenceOf('sample', 'plain'), referenceOf('long', 'plain')) > bound);
});
