/** Forms that are broken in every place, and requests whose framing lies, sent to the real service. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descriptorsOf } from '../../../benchmarks/process.ts';
import { caught, exactly, type Options, type Row, told } from '../case.ts';
import { patienceSeconds } from '../corpus/ask.ts';
import { attack, type Campaign, type Shot, showAnswers } from '../corpus/campaign.ts';
import { createJudge, type Judge } from '../corpus/contract.ts';
import { createDice } from '../corpus/dice.ts';
import { spoils, withSpoilt } from '../corpus/faults.ts';
import { formOf } from '../corpus/forms.ts';
import { sendFramed } from '../corpus/framing.ts';
import { eventually } from '../load/footprint.ts';
import { buildService, isUp, type Server, withServer } from '../service.ts';

const shortCount = 3000;
const longCount = 20_000;
const spoiltCount = 60;
const path = '/v1/analyze';
/** One request in so many has a framing that lies. */
const framedEvery = 10;
/** For the service to see that connections have ended. */
const restMs = 1500;

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const total = count ?? (long ? longCount : shortCount);
  const temporary = mkdtempSync(join(tmpdir(), 'undertone-forms-'));
  const settings = {
    UNDERTONE_WORKERS: '2',
    UNDERTONE_QUEUE: '64',
    UNDERTONE_DEADLINE_S: '250',
    TMPDIR: temporary,
  };
  try {
    return await withServer(settings, (server) => measure(server, total, seed, temporary));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
  }
}

async function measure(server: Server, total: number, seed: number, temporary: string): Promise<Row[]> {
  const judge = lenient(await createJudge(server.url));
  const target = { port: server.port, token: server.token, pid: server.process.pid as number };
  const numbers = Array.from({ length: total }, (_, number) => number);
  const shot = shotOf(seed, target);
  await attack(target, judge, numbers.slice(-spoiltCount), shot);
  const before = await fewestDescriptors(target.pid);
  const campaign = await attack(target, judge, numbers, shot);
  for (const { number, fault } of campaign.findings)
    console.error(`--seed ${seed}, number ${number}: ${fault}`);
  await eventually(() => descriptorsOf(target.pid) <= before);
  const left = descriptorsOf(target.pid) - before;
  const rows = [...rowsOf(campaign), leftRow(server, temporary, left)];
  const spoilt = await withSpoilt(target.port, spoils['answers 500'], (port) =>
    attack({ ...target, port }, judge, numbers.slice(0, spoiltCount), shotOf(seed, { ...target, port })),
  );
  writeFileSync(join(temporary, 'planted'), '');
  return [
    told({ name: 'mutated forms', unit: 'requests', value: total, note: showAnswers(campaign) }),
    ...rows,
    caught('answers 500', rowsOf(spoilt)),
    caught('a file is left behind', [leftRow(server, temporary, left)]),
  ];
}

/** A client that broke off may get no answer. */
const lenient =
  (judge: Judge): Judge =>
  (asked, answer) =>
    answer.status === 0 ? null : judge(asked, answer);

function shotOf(seed: number, { port, token }: { readonly port: number; readonly token: string }): Shot {
  return async (client, number) => {
    const dice = createDice(seed, number);
    const form = formOf(dice);
    if (dice.oneIn(framedEvery)) return { path, answer: await sendFramed(port, token, path, form, dice) };
    const type = form.contentType === null ? {} : { 'Content-Type': form.contentType };
    const headers = { Authorization: `Bearer ${token}`, ...type };
    return { path, answer: await client.send('POST', path, form.body, headers) };
  };
}

function rowsOf({ findings, health }: Campaign): Row[] {
  const hangs = findings.filter(({ fault }) => / within \d+ s$/.test(fault));
  const others = findings.filter((finding) => !hangs.includes(finding));
  const note = others.slice(0, 5).map(({ number, fault }) => `${number}: ${fault.slice(0, 80)}`);
  return [
    exactly(0, {
      name: '5xx, no answer, or not as the schema says',
      unit: 'requests',
      value: others.length,
      note: note.join('; '),
    }),
    exactly(0, { name: `without an answer in ${patienceSeconds} s`, unit: 'requests', value: hangs.length }),
    exactly(0, { name: '/health without 200 meanwhile', unit: `of ${health.asked}`, value: health.failed }),
  ];
}

function leftRow(server: Server, temporary: string, descriptorsLeft: number): Row {
  const ended = isUp(server) ? 0 : 1;
  const files = readdirSync(temporary);
  const uploads = readdirSync(server.dataDir).filter((name) => !/^undertone|secret|\.db/.test(name));
  const value = ended + files.length + uploads.length + Math.max(0, descriptorsLeft);
  const note = [...files, ...uploads].join(', ');
  return exactly(0, {
    name: 'ends of the process, files and descriptors left behind',
    unit: 'times',
    value,
    note,
  });
}

/** How many there are once no more have gone for a while: the last connections end after their answers. */
async function fewestDescriptors(pid: number): Promise<number> {
  let [fewest, since] = [descriptorsOf(pid), performance.now()];
  await eventually(() => {
    const open = descriptorsOf(pid);
    if (open < fewest) [fewest, since] = [open, performance.now()];
    return performance.now() - since > restMs;
  });
  return fewest;
}
