/** Damaged and lying files of every kind, sent to the real service. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atMost, caught, exactly, type Options, type Row, told } from '../case.ts';
import { attack, type Campaign, type Shot, showAnswers, type Target } from '../corpus/campaign.ts';
import { createJudge, type Judge } from '../corpus/contract.ts';
import { limits } from '../corpus/costs.ts';
import { spoils, withSpoilt } from '../corpus/faults.ts';
import { tools } from '../corpus/making.ts';
import { mutationOf } from '../corpus/mutation.ts';
import { makeSources, type Sources } from '../corpus/sources.ts';
import { buildService, isUp, withServer } from '../service.ts';

const shortCount = 2000;
const longCount = 50_000;
/** Whole files sent first, so that what is loaded once is not taken for what a file costs. */
const warmUp = 100;
const spoiltCount = 60;
const ballastMebibytes = 320;
const settings = { UNDERTONE_WORKERS: '2', UNDERTONE_QUEUE: '64', UNDERTONE_DEADLINE_S: '250' };

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  installPackages(tools);
  buildService();
  const sources = await makeSources();
  const total = count ?? (long ? longCount : shortCount);
  return withServer(settings, async (server) => {
    const judge = await createJudge(server.url);
    const target = { port: server.port, token: server.token, pid: server.process.pid as number };
    const shot = shotOf(seed, sources);
    const numbers = Array.from({ length: total }, (_, number) => number);
    await attack(target, judge, numbers.slice(-warmUp), shot);
    const campaign = await attack(target, judge, numbers, shot);
    keepFindings(campaign, seed, sources);
    const planted = await plantFaults(target, judge, shot);
    return [
      told({
        name: 'files to begin with',
        unit: 'files',
        value: new Set(sources.all.map(({ name }) => name)).size,
      }),
      told({ name: 'mutated uploads', unit: 'requests', value: total, note: showAnswers(campaign) }),
      ...rowsOf(campaign),
      exactly(0, { name: 'ends of the process', unit: 'times', value: isUp(server) ? 0 : 1 }),
      ...planted,
    ];
  });
}

function shotOf(seed: number, sources: Sources): Shot {
  return async (client, number) => {
    const { path, parts } = mutationOf(seed, number, sources);
    return { path, answer: await client.upload(path, parts) };
  };
}

function rowsOf({ findings, costs, health }: Campaign): Row[] {
  const note = findings
    .slice(0, 5)
    .map(({ number, fault }) => `${number}: ${fault.slice(0, 80)}`)
    .join('; ');
  return [
    exactly(0, {
      name: '5xx, no answer, or not as the schema says',
      unit: 'requests',
      value: findings.length,
      note,
    }),
    atMost(limits.ms / 1000, { name: 'slowest answer', unit: 's', value: costs && costs.slowestMs / 1000 }),
    atMost(limits.mebibytes, {
      name: 'most memory over what was held',
      unit: 'MiB',
      value: costs?.mostMebibytes ?? null,
    }),
    exactly(0, { name: '/health without 200 meanwhile', unit: `of ${health.asked}`, value: health.failed }),
  ];
}

/** The same check of the same service, its answers spoilt; and of a process that takes memory. */
async function plantFaults(target: Target, judge: Judge, shot: Shot): Promise<Row[]> {
  const numbers = Array.from({ length: spoiltCount }, (_, number) => number);
  const rows: Row[] = [];
  for (const [name, spoil] of Object.entries(spoils)) {
    const spoilt = await withSpoilt(target.port, spoil, (port) =>
      attack({ ...target, port }, judge, numbers, shot),
    );
    rows.push(caught(name, rowsOf(spoilt)));
  }
  let ballast = Buffer.alloc(0);
  const greedy = await attack({ ...target, pid: process.pid }, judge, numbers, (client, number) => {
    if (number === 0) ballast = Buffer.alloc(ballastMebibytes << 20, 1);
    return shot(client, number);
  });
  rows.push(caught(`takes ${ballast.length >> 20} MiB`, rowsOf(greedy)));
  return rows;
}

/** For another run with the same seed, and for the crashers' folder. */
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
