/** Damaged and forged files of every format, sent to the service. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import {
  answerFaults,
  attack,
  type Campaign,
  type SendOne,
  showAnswers,
  type Target,
  withFault,
} from '../corpus/campaign.ts';
import { limits } from '../corpus/costs.ts';
import { tools } from '../corpus/generate.ts';
import { createJudge, type Judge } from '../corpus/judge.ts';
import { mutationOf } from '../corpus/mutation.ts';
import { makeSources, type Sources } from '../corpus/sources.ts';
import { buildService, isUp, withServer } from '../support/service.ts';

const shortCount = 2000;
const longCount = 50_000;
/** Uploads before anything is measured: what the process loads once is not the cost of a file. */
const warmUp = 100;
const faultCount = 60;
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
    const sendOne = senderOf(seed, sources);
    const numbers = Array.from({ length: total }, (_, number) => number);
    await attack(target, judge, numbers.slice(-warmUp), sendOne);
    const campaign = await attack(target, judge, numbers, sendOne);
    keepFindings(campaign, seed, sources);
    const controls = await checkFaults(target, judge, sendOne);
    return [
      informational(
        'files that the mutations start from',
        'files',
        new Set(sources.all.map(({ name }) => name)).size,
      ),
      informational('mutated uploads', 'requests', total, showAnswers(campaign)),
      ...rowsOf(campaign),
      exactly(0, 'exits of the process', 'times', isUp(server) ? 0 : 1),
      ...controls,
    ];
  });
}

function senderOf(seed: number, sources: Sources): SendOne {
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
    exactly(0, '5xx, no answer, or not as the schema says', 'requests', findings.length, note),
    atMost(limits.ms / 1000, 'slowest answer', 's', costs && costs.slowestMs / 1000),
    atMost(
      limits.mebibytes,
      'most memory of one request, over what was resident',
      'MiB',
      costs?.mostMebibytes ?? null,
    ),
    exactly(0, '/health without 200 meanwhile', `of ${health.requests}`, health.failed),
  ];
}

/** The same check with wrong answers, and with a process that allocates memory. */
async function checkFaults(target: Target, judge: Judge, sendOne: SendOne): Promise<Row[]> {
  const numbers = Array.from({ length: faultCount }, (_, number) => 1000 + number);
  const rows: Row[] = [];
  for (const [name, fault] of Object.entries(answerFaults))
    rows.push(negativeControl(name, rowsOf(await attack(target, judge, numbers, withFault(sendOne, fault)))));
  let ballast = Buffer.alloc(0);
  const greedy = await attack({ ...target, pid: process.pid }, judge, numbers, (client, number) => {
    if (number === numbers[0]) ballast = Buffer.alloc(ballastMebibytes << 20, 1);
    return sendOne(client, number);
  });
  rows.push(negativeControl(`${ballast.length >> 20} MiB allocated`, rowsOf(greedy)));
  return rows;
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
