/** Many requests to a running service: answers against the published document, and what they cost. */
import {
  forgetPeak,
  livingThreadsMs,
  peakMebibytes,
  residentMebibytes,
  runQueueMs,
} from '../../../benchmarks/process.ts';
import { createContract, type Document } from '../../support/contract.ts';
import { exactly, informational, negativeControl, type Row } from '../case.ts';
import { inParallel, startProgress } from '../support/parallel.ts';
import {
  type Answer,
  type Client,
  createClient,
  type Health,
  startHealthProbe,
} from '../support/requests.ts';
import { isUp, type Server } from '../support/service.ts';

/** Sends request `number` of the campaign. */
type SendOne = (client: Client, number: number) => Promise<{ path: string; answer: Answer }>;

type Finding = { readonly number: number; readonly fault: string };

export type Campaign = {
  readonly findings: readonly Finding[];
  readonly answered: Readonly<Record<number, number>>;
  readonly slowest: { readonly ms: number; readonly number: number };
  /** Peak over the resident set before. */
  readonly mostMebibytes: number;
  readonly health: Health;
};

/** Of one request. */
export const limits = { ms: 5000, mebibytes: 256 };
const atATime = 4;
/** The peak is read once a batch. */
const batchSize = 50;
const timesAlone = 3;

export async function attack(server: Server, total: number, sendOne: SendOne): Promise<Campaign> {
  const pid = server.process.pid as number;
  const faultOf = await createJudge(server.url);
  const client = createClient(server.port, server.token, atATime);
  const probe = startHealthProbe(server.port);
  const progress = startProgress('attacking', total);
  const findings: Finding[] = [];
  const answered: Record<number, number> = {};
  let slowest = { ms: 0, number: 0 };
  let mostMebibytes = 0;
  const send = async (number: number): Promise<number> => {
    progress.advance();
    try {
      const { path, answer } = await sendOne(client, number);
      answered[answer.status] = (answered[answer.status] ?? 0) + 1;
      const fault = faultOf(path, answer);
      if (fault !== null) findings.push({ number, fault });
      return answer.ms;
    } catch (error) {
      findings.push({ number, fault: `no answer: ${(error as Error).message}` });
      return 0;
    }
  };
  const numbers = Array.from({ length: total }, (_, number) => number);
  for (let at = 0; at < total && isUp(server); at += batchSize) {
    const batch = numbers.slice(at, at + batchSize);
    const { result: times, mebibytes } = await withPeak(pid, () => inParallel(batch, atATime, send));
    const greedy = mebibytes > limits.mebibytes;
    if (!greedy) mostMebibytes = Math.max(mostMebibytes, mebibytes);
    for (const [index, number] of batch.entries()) {
      const ms = times[index] as number;
      const cost = greedy || ms > limits.ms ? await costAlone(pid, () => send(number)) : { ms, mebibytes: 0 };
      if (cost.ms > slowest.ms) slowest = { ms: cost.ms, number };
      mostMebibytes = Math.max(mostMebibytes, cost.mebibytes);
    }
  }
  progress.stop();
  client.close();
  return { findings, answered, slowest, mostMebibytes, health: await probe.stop() };
}

async function withPeak<Result>(
  pid: number,
  work: () => Promise<Result>,
): Promise<{ readonly result: Result; readonly mebibytes: number }> {
  const before = residentMebibytes(pid);
  forgetPeak(pid);
  const result = await work();
  return { result, mebibytes: peakMebibytes(pid) - before };
}

/** Of a request that exceeded a limit together with others: the best of several times. */
async function costAlone(pid: number, send: () => Promise<number>) {
  const best = { ms: Number.POSITIVE_INFINITY, mebibytes: Number.POSITIVE_INFINITY };
  for (let times = 0; times < timesAlone; times++) {
    const { result: ms, mebibytes } = await withPeak(pid, () => ownMs(pid, send));
    best.ms = Math.min(best.ms, ms);
    best.mebibytes = Math.min(best.mebibytes, mebibytes);
    if (best.ms <= limits.ms && best.mebibytes <= limits.mebibytes) break;
  }
  return best;
}

/**
 * What a request takes where nothing else runs: less the time that the service's threads, and this process's own, were
 * ready while other work had the processors, and no less than the processor time of the service.
 */
async function ownMs(pid: number, send: () => Promise<number>): Promise<number> {
  const waits = () => runQueueMs(pid) + runQueueMs(process.pid);
  const [waited, worked] = [waits(), livingThreadsMs(pid)];
  const ms = await send();
  return Math.max(livingThreadsMs(pid) - worked, ms - (waits() - waited));
}

type Judge = (path: string, answer: Answer) => string | null;

/** Validates answers against the document that the service publishes. */
async function createJudge(url: string): Promise<Judge> {
  const { fault } = createContract((await (await fetch(`${url}/openapi.json`)).json()) as Document);
  return (path, { status, type, body }) => {
    if (status >= 500) return `${status} ${body.slice(0, 200)}`;
    if (!type.startsWith('application/json')) return `${status} of type ${type}`;
    try {
      return fault(`POST ${path}`, status, JSON.parse(body, finite));
    } catch (error) {
      return `${status}: ${(error as Error).message}`;
    }
  };
}

/** JSON.parse reads 1e999 as infinity. */
function finite(_: string, value: unknown): unknown {
  if (typeof value === 'number' && !Number.isFinite(value)) throw new RangeError(`Expected a finite number`);
  return value;
}

const changes: Readonly<Record<string, (answer: Answer) => Answer>> = {
  'status 500': (answer) => ({ ...answer, status: 500 }),
  NaN: (answer) => ({ ...answer, body: answer.body.replace(/:0[.\d]*/, ':NaN') }),
  infinity: (answer) => ({ ...answer, body: answer.body.replace(/:0[.\d]*/, ':1e999') }),
  'a missing field': (answer) => ({ ...answer, body: answer.body.replace('"request_id"', '"id"') }),
};

/** The answer to a recording, changed in ways that the judge must find. */
export async function judgeControls(server: Server, recording: Buffer): Promise<Row[]> {
  const faultOf = await createJudge(server.url);
  const client = createClient(server.port, server.token, 1);
  const path = '/v1/analyze';
  const answer = await client.upload(path, [{ name: 'audio', bytes: recording }]);
  client.close();
  const unchanged = faultOf(path, answer);
  if (unchanged !== null) throw new Error(`Expected a report of the recording, got ${unchanged}`);
  return Object.entries(changes).map(([name, change]) => {
    const faults = faultOf(path, change(answer)) === null ? 0 : 1;
    return negativeControl(name, [exactly(0, 'answers that differ from the document', 'answers', faults)]);
  });
}

export function rowsOf({ findings, answered, health }: Campaign, server: Server): Row[] {
  const total = Object.values(answered).reduce((sum, count) => sum + count, 0);
  const statuses = Object.entries(answered).map(([status, count]) => `${count} x ${status}`);
  const first = findings.slice(0, 5).map(({ number, fault }) => `${number}: ${fault.slice(0, 80)}`);
  return [
    informational('mutated uploads', 'answers', total, statuses.join(', ')),
    exactly(0, '5xx, no answer, or not as the schema says', 'requests', findings.length, first.join('; ')),
    exactly(0, '/health without 200 meanwhile', `of ${health.requests}`, health.failed),
    exactly(0, 'exits of the process', 'times', isUp(server) ? 0 : 1),
  ];
}
