/** The same speech in other containers, rates, levels, channels and with silence around it gets the same scores. */
import { createReadStream } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atLeast, atMost, informational, negativeControl, type Options, type Row } from '../case.ts';
import { tools } from '../corpus/generate.ts';
import { spokenRecordings } from '../corpus/recordings.ts';
import { analyzeFiles, type Distance, distancesOf, type Scores } from '../corpus/score-distance.ts';
import {
  type Family,
  makeFamilies,
  type Transformation,
  transformations,
} from '../corpus/transformations.ts';
import { createPrng } from '../support/prng.ts';
import { startProgress } from '../support/progress.ts';
import { buildService } from '../support/service.ts';

const bound = 0.05;
const longCount = 200;
/** Minimum share of human recordings within the bound; all synthetic ones must be. */
const shareOfHuman = 95;
/** No speech, or single words and coughs. */
const unspoken = new Set(['ESC10', 'RIR', 'EmoGator', 'MFA']);

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const data = process.env.UNDERTONE_DATA;
  const human = data !== undefined && (long || count !== null);
  const recordings = human ? await sampleOf(data, count ?? longCount, seed) : await spokenRecordings();
  const folder = cacheFolder(`reliability/${human ? 'human' : 'synthetic'}-speech`);
  const families = await makeFamilies(recordings, folder);
  const scores = await analyzeAll(families);
  const rowsOf = (found: readonly Distance[]) => (human ? rowsOfHuman(found) : rowsOfSynthetic(found));
  const note = human ? 'drawn by seed from UNDERTONE_DATA' : 'synthetic; set UNDERTONE_DATA for human ones';
  return [
    informational('recordings', 'files', families.length, note),
    ...rowsOf(distancesOf(families, scores)),
    negativeControl('copies of another recording', rowsOf(distancesOf(families.map(mixedUp), scores))),
  ];
}

/** The first three columns of index.csv are corpus, path and duration. */
async function sampleOf(data: string, count: number, seed: number): Promise<string[]> {
  const paths: string[] = [];
  for await (const line of createInterface({ input: createReadStream(join(data, 'index.csv')) })) {
    const [set = '', path = '', seconds = ''] = line.split(',');
    if (!unspoken.has(set) && Number(seconds) >= 2) paths.push(join(data, path));
  }
  const prng = createPrng(seed);
  const drawn = new Map<string, string>();
  while (drawn.size < Math.min(count, paths.length)) {
    const path = prng.pick(paths);
    drawn.set(basename(path), path);
  }
  return [...drawn.values()];
}

async function analyzeAll(families: readonly Family[]): Promise<Map<string, Scores>> {
  const files = families.flatMap(({ plain, narrow, copies }) => [
    plain,
    narrow,
    ...copies.map(({ file }) => file),
  ]);
  const progress = startProgress('analysing', files.length);
  const scores = await analyzeFiles(files, progress.advance);
  progress.stop();
  return scores;
}

/** The first family has the copies of the second, and so on. */
function mixedUp(family: Family, index: number, families: readonly Family[]): Family {
  const other = families[(index + 1) % families.length] as Family;
  return { ...family, copies: other.copies };
}

function grouped(
  distances: readonly Distance[],
): readonly (readonly [Transformation, readonly Distance[]])[] {
  return transformations.map((transformation) => [
    transformation,
    distances.filter((distance) => distance.transformation === transformation),
  ]);
}

function rowsOfSynthetic(distances: readonly Distance[]): Row[] {
  return grouped(distances).map(([{ name }, found]) =>
    atMost(bound, `${name}: furthest score`, 'of 1', ...furthest(found)),
  );
}

function rowsOfHuman(distances: readonly Distance[]): Row[] {
  return grouped(distances).flatMap(([{ name }, found]) => {
    const within = found.filter(({ by }) => by <= bound).length;
    const value = found.length > 0 ? (100 * within) / found.length : null;
    return [
      atLeast(shareOfHuman, `${name}: every score within ${bound}`, '%', value),
      informational(`${name}: furthest score`, 'of 1', ...furthest(found)),
    ];
  });
}

function furthest(found: readonly Distance[]): [value: number | null, note: string] {
  const [most] = found.toSorted((a, b) => b.by - a.by);
  if (most === undefined) return [null, 'no recording had scores'];
  const emotion = found.reduce((far, { emotionBy }) => Math.max(far, emotionBy), 0);
  const note = `${most.score} of ${basename(most.plain)}; furthest probability of an emotion ${emotion.toFixed(3)}`;
  return [Number.isFinite(most.by) ? most.by : null, note];
}
