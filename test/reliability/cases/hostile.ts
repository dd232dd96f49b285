/** Damaged and forged files of every format, sent to the service. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { speechFile } from '../../../benchmarks/speech.ts';
import type { PartSpec } from '../../../benchmarks/upload-body.ts';
import { atMost, informational, type Options, type Row } from '../case.ts';
import { attack, type Campaign, judgeControls, limits, rowsOf } from '../corpus/campaign.ts';
import { tools } from '../corpus/encodings.ts';
import { mutate } from '../corpus/mutate.ts';
import { makeSources, type Sources } from '../corpus/sources.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, withServer } from '../support/service.ts';

const shortCount = 2000;
const longCount = 50_000;
/** Uploads before anything is measured: what the process loads once is not the cost of a file. */
const warmUp = 100;
/** One in so many is not mutated. */
const wholeEvery = 12;
/** One in so many has a second part of each kind. */
const partEvery = 16;
const settings = {
  UNDERTONE_WORKERS: '2',
  UNDERTONE_QUEUE: '64',
  UNDERTONE_DEADLINE_S: '250',
  // The limit of time is for damage, not for length: ten minutes of AMR are 100 kB, and take as long as ten of WAV.
  UNDERTONE_MAX_SECONDS: '120',
};
const paths = ['/v1/analyze', '/v1/analyze', '/v1/analyze/emotion', '/v1/analyze/cognitive'];

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const sources = await makeSources();
  const total = count ?? (long ? longCount : shortCount);
  return withServer(settings, async (server) => {
    const attackWith = (own: number, requests: number) =>
      attack(server, requests, async (client, number) => {
        const { path, parts } = mutationOf(own, number, sources);
        return { path, answer: await client.upload(path, parts) };
      });
    await attackWith(seed + 1, warmUp);
    const campaign = await attackWith(seed, total);
    keepFindings(campaign, seed, sources);
    const names = new Set(sources.all.map(({ name }) => name));
    const { slowest, mostMebibytes } = campaign;
    const { from } = mutationOf(seed, slowest.number, sources);
    return [
      informational('files that the mutations start from', 'files', names.size),
      ...rowsOf(campaign, server),
      atMost(
        limits.ms / 1000,
        'slowest answer',
        's',
        slowest.ms / 1000,
        `number ${slowest.number}, from ${from}`,
      ),
      atMost(limits.mebibytes, 'most memory of one request, over what was resident', 'MiB', mostMebibytes),
      ...(await judgeControls(server, speechFile(3))),
    ];
  });
}

type Mutation = { readonly from: string; readonly path: string; readonly parts: readonly PartSpec[] };

/** The regression files come first, unchanged; then seed and number determine the bytes. */
function mutationOf(seed: number, number: number, { all, crashers }: Sources): Mutation {
  const prng = createPrng(seed, number);
  const path = prng.pick(paths);
  const crasher = crashers[number];
  const source = crasher ?? prng.pick(all);
  const others = [prng.pick(all).bytes, prng.pick(all).bytes];
  const whole = crasher !== undefined || prng.oneIn(wholeEvery);
  const bytes = whole ? source.bytes : mutate(source.bytes, prng, others);
  const parts: PartSpec[] = [{ name: 'audio', bytes }];
  if (prng.oneIn(partEvery))
    parts.push({ name: 'channel', bytes: prng.pick(['0', '9999', '-1', 'NaN', '']) });
  if (prng.oneIn(partEvery)) parts.push({ name: 'baseline', bytes: prng.pick(all).bytes });
  return { from: source.name, path, parts };
}

/** Writes each to .cache/reliability/findings. */
function keepFindings({ findings }: Campaign, seed: number, sources: Sources): void {
  const folder = join(cacheFolder('reliability'), 'findings');
  mkdirSync(folder, { recursive: true });
  for (const { number, fault } of findings) {
    const { from, path, parts } = mutationOf(seed, number, sources);
    const file = join(folder, `hostile-${seed}-${number}`);
    for (const { name, bytes } of parts) writeFileSync(`${file}.${name}`, bytes);
    console.error(`--seed ${seed}, number ${number}, from ${from}, ${path}: ${fault}; kept in ${file}.audio`);
  }
}
