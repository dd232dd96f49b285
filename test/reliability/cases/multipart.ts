/** Malformed forms, and requests with wrong lengths or chunks, sent to the service. */
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { descriptorsOf } from '../../../benchmarks/process.ts';
import { exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import {
  answerFaults,
  attack,
  type Campaign,
  type SendOne,
  showAnswers,
  withFault,
} from '../corpus/campaign.ts';
import { formOf } from '../corpus/forms.ts';
import { sendMisframed } from '../corpus/framing.ts';
import { createJudge, type Judge } from '../corpus/judge.ts';
import { maxWaitSeconds } from '../support/client.ts';
import { eventually } from '../support/footprint.ts';
import { createPrng } from '../support/prng.ts';
import { buildService, isUp, type Server, withServer } from '../support/service.ts';

const shortCount = 3000;
const longCount = 20_000;
const warmUp = 60;
const path = '/v1/analyze';
/** One request in so many has a wrong length or wrong chunks. */
const framedEvery = 10;
/** Time for the service to close ended connections. */
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
  const judge = allowDisconnects(await createJudge(server.url));
  const target = { port: server.port, token: server.token, pid: server.process.pid as number };
  const numbers = Array.from({ length: total }, (_, number) => number);
  const sendOne = senderOf(seed, target);
  await attack(target, judge, numbers.slice(-warmUp), sendOne);
  const before = await fewestDescriptors(target.pid);
  const campaign = await attack(target, judge, numbers, sendOne);
  for (const { number, fault } of campaign.findings)
    console.error(`--seed ${seed}, number ${number}: ${fault}`);
  await eventually(() => descriptorsOf(target.pid) <= before);
  const remaining = descriptorsOf(target.pid) - before;
  const rows = [...rowsOf(campaign), remainingRow(server, temporary, remaining)];
  const fault = answerFaults['status 500'] as (typeof answerFaults)[string];
  const faulty = await attack(target, judge, numbers.slice(0, warmUp), withFault(sendOne, fault));
  writeFileSync(join(temporary, 'remaining'), '');
  return [
    informational('mutated forms', 'requests', total, showAnswers(campaign)),
    ...rows,
    negativeControl('status 500', rowsOf(faulty)),
    negativeControl('a remaining file', [remainingRow(server, temporary, remaining)]),
  ];
}

/** A client that closed the connection may get no answer. */
const allowDisconnects =
  (judge: Judge): Judge =>
  (asked, answer) =>
    answer.status === 0 ? null : judge(asked, answer);

function senderOf(seed: number, { port, token }: { readonly port: number; readonly token: string }): SendOne {
  return async (client, number) => {
    const prng = createPrng(seed, number);
    const form = formOf(prng);
    if (prng.oneIn(framedEvery)) return { path, answer: await sendMisframed(port, token, path, form, prng) };
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
    exactly(0, '5xx, no answer, or not as the schema says', 'requests', others.length, note.join('; ')),
    exactly(0, `without an answer in ${maxWaitSeconds} s`, 'requests', hangs.length),
    exactly(0, '/health without 200 meanwhile', `of ${health.requests}`, health.failed),
  ];
}

function remainingRow(server: Server, temporary: string, descriptorsLeft: number): Row {
  const ended = isUp(server) ? 0 : 1;
  const files = readdirSync(temporary);
  const uploads = readdirSync(server.dataDir).filter((name) => !/^undertone|secret|\.db/.test(name));
  const value = ended + files.length + uploads.length + Math.max(0, descriptorsLeft);
  const note = [...files, ...uploads].join(', ');
  return exactly(0, 'exits of the process, files and descriptors that remain', 'times', value, note);
}

/** The number once it has not decreased for a while: the last connections close after their responses. */
async function fewestDescriptors(pid: number): Promise<number> {
  let [fewest, since] = [descriptorsOf(pid), performance.now()];
  await eventually(() => {
    const open = descriptorsOf(pid);
    if (open < fewest) [fewest, since] = [open, performance.now()];
    return performance.now() - since > restMs;
  });
  return fewest;
}
