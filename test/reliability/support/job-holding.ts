/** One account makes waiting and finished jobs hold as much as it can: payloads, bytes in Redis, rows; another one goes on. */
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { call } from '../../support/http.ts';
import { createJobClient } from '../../support/jobs.ts';
import { makeToken } from '../../support/server.ts';
import { atMost, exactly, none, type Row } from '../case.ts';
import { eventually } from './footprint.ts';
import { type Server, withJobs, withServer } from './service.ts';

const mebibyte = 2 ** 20;
const parallel = 16;
/** Uploads after which threads and heaps have their size. */
const warmUp = 64;
const scopes = 'analyze:emotion,analyze:cognitive';
const short = { name: 'audio', bytes: toneFile(1) } as const;

type Send = (token: string) => Promise<number>;

/** Uploads of one owner, some at a time. @returns their statuses */
async function flood(count: number, send: () => Promise<number>, atOnce = parallel): Promise<number[]> {
  const statuses: number[] = [];
  let left = count;
  const sendSome = async () => {
    while (left-- > 0) statuses.push(await send());
  };
  await Promise.all(Array.from({ length: atOnce }, sendSome));
  return statuses;
}

function sender(server: Server, parts: Parameters<ReturnType<typeof createJobClient>['upload']>[0]): Send {
  const { upload } = createJobClient(server);
  return async (token) => (await upload(parts, { Authorization: `Bearer ${token}` })).status;
}

const count = (statuses: readonly number[], status: number) =>
  statuses.filter((one) => one === status).length;

async function readGauge({ port }: Server, name: string): Promise<number> {
  const { body } = await call(port, { path: '/metrics' });
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(body)?.[1]);
}

/** Of another owner, while the first has all that it gets. */
async function othersRow(name: string, send: Send, token: string): Promise<Row> {
  const statuses = [await send(token), await send(token)];
  const refused = statuses.filter((status) => status !== 202).map(String);
  return none(`${name}: jobs of another owner refused`, refused, statuses.length);
}

// In memory: 1,000 segments with the longest names.

const segments = JSON.stringify(
  Array.from({ length: 1000 }, (_, index) => ({
    start: index,
    end: index + 1,
    speaker: `${'\u{1f600}'.repeat(48)}${index % 20}`,
  })),
);

/** Of waiting jobs, half for one owner. */
const bufferBytes = 32 * mebibyte;

export function payloadRows(jobs: number, buffer = bufferBytes): Promise<Row[]> {
  const env = { UNDERTONE_LOG_LEVEL: 'error', UNDERTONE_JOB_BUFFER_BYTES: String(buffer) };
  return withServer(env, async (server) => {
    const send = sender(server, [short, { name: 'segments', bytes: segments }]);
    const other = makeToken(server, scopes);
    await flood(warmUp, () => send(server.token));
    const pid = server.process.pid as number;
    const idle = residentMebibytes(pid);
    const statuses = await flood(jobs, () => send(server.token));
    const resident = residentMebibytes(pid) - idle;
    const held = await readGauge(server, 'undertone_jobs_held_bytes');
    const name = `${jobs} jobs of 1,000 segments`;
    const note = `${count(statuses, 202)} accepted, ${count(statuses, 503)} refused`;
    return [
      atMost(100, `${name}: resident over that after ${warmUp}`, 'MiB', resident, note),
      atMost(bufferBytes / mebibyte / 2, `${name}: held by waiting jobs`, 'MiB', held / mebibyte),
      await othersRow(name, sender(server, [short]), other),
    ];
  });
}

// In Redis: recordings.

const redisMebibytes = 32;
const recording = { name: 'audio', bytes: toneFile(60) } as const;

/** @param isSame the control: the other owner is the first */
export function redisRows(uploads: number, isSame = false): Promise<Row[]> {
  return withJobs({ UNDERTONE_LOG_LEVEL: 'warn' }, async ({ server, redis }) => {
    await redis.client.config('SET', 'maxmemory', String(redisMebibytes * mebibyte));
    const send = sender(server, [recording]);
    const other = isSame ? server.token : makeToken(server, scopes);
    const statuses = await flood(uploads, () => send(server.token), 1);
    const used = Number(/^used_memory:(\d+)/m.exec(await redis.client.info('memory'))?.[1]) / mebibyte;
    const name = `${uploads} uploads of 2 MB into a Redis of ${redisMebibytes} MiB`;
    const note = `${count(statuses, 202)} accepted, ${count(statuses, 503)} refused`;
    return [
      atMost(0.75 * redisMebibytes, `${name}: used`, 'MiB', used, note),
      await othersRow(name, send, other),
      exactly(0, `${name}: stacks in the log`, 'lines', server.stderr().match(/"stack"/g)?.length ?? 0),
    ];
  });
}

// In the database: finished jobs.

const keptJobs = 20;

export function keptRows(uploads: number, limit = keptJobs): Promise<Row[]> {
  const env = { UNDERTONE_LOG_LEVEL: 'error', UNDERTONE_JOB_RESULTS: String(limit) };
  return withServer(env, async (server) => {
    const send = sender(server, [short]);
    const statuses = await flood(uploads, () => send(server.token));
    const { jobs } = JSON.parse((await createJobClient(server).get('/v1/jobs')).body);
    const name = `${uploads} jobs of an owner that keeps ${keptJobs}`;
    return [
      exactly(keptJobs, `${name}: kept`, 'jobs', jobs.length),
      exactly(uploads - keptJobs, `${name}: refused with 429`, 'jobs', count(statuses, 429)),
      await othersRow(name, send, makeToken(server, scopes)),
    ];
  });
}

// Callbacks to a receiver that nobody runs.

const queueSlots = 40;
const endMs = 60_000;

export function callbackRows(jobs: number, slots = queueSlots): Promise<Row[]> {
  const env = {
    UNDERTONE_LOG_LEVEL: 'error',
    UNDERTONE_JOB_QUEUE: String(slots),
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  return withServer(env, async (server) => {
    const send = sender(server, [short, { name: 'callback', bytes: 'http://127.0.0.1:9/' }]);
    const statuses = await flood(jobs, () => send(server.token), 1);
    await eventually(async () => (await readGauge(server, 'undertone_jobs_waiting')) === 0, endMs);
    const waiting = await readGauge(server, 'undertone_callbacks_waiting');
    const name = `${jobs} jobs with dead callbacks and a queue of ${queueSlots}`;
    const note = `${count(statuses, 202)} accepted, ${count(statuses, 503)} refused`;
    return [
      atMost(queueSlots, `${name}: callbacks that wait`, 'callbacks', waiting, note),
      await othersRow(name, sender(server, [short]), makeToken(server, scopes)),
    ];
  });
}
