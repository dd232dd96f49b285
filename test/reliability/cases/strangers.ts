/** Effects of strangers and of one account on others: unread requests, costly bodies, uploads that send little, long recordings, a full queue and dead callbacks. */

import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadMs } from '../../../benchmarks/process.ts';
import { contentType, toneFile } from '../../../benchmarks/upload-body.ts';
import { type Wire, wire } from '../../support/http.ts';
import { atMost, negativeControl, none, type Options, type Row } from '../case.ts';
import { type Account, type Answer, openAccount, operationOf, useService } from '../support/account.ts';
import { callbackRows, keptRows, payloadRows, redisRows } from '../support/job-holding.ts';
import { type Goals, longRecordingRows } from '../support/long-recordings.ts';
import { controlRows, type PipeliningGoals, unreadRequestRows } from '../support/pipelined-requests.ts';
import { type Load, queueRows } from '../support/queue-attack.ts';
import { exchange, sendRaw } from '../support/requests.ts';
import { buildService, preload, type Server, withJobs } from '../support/service.ts';
import { unreadResultRows } from '../support/unread-results.ts';

type Size = {
  readonly slowerSeconds: number;
  readonly long: Goals;
  readonly load: Load;
  readonly unread: PipeliningGoals;
};

const sizes: Readonly<Record<'long' | 'short', Size>> = {
  long: {
    slowerSeconds: 2,
    long: { recordingSeconds: 0.5, measurementSeconds: 0.3, uploads: 10 },
    unread: { healthMs: 100, mebibytes: 100, attackMs: 3000, idleConnections: 10_000, every: true },
    load: { lists: 9, deadCallbacks: 100, timed: 10, waitSeconds: 120, seconds: 2, times: 0 },
  },
  // In parallel with whatever else a machine does.
  short: {
    slowerSeconds: 10,
    long: { recordingSeconds: 5, measurementSeconds: 5, uploads: 3 },
    unread: { healthMs: 500, mebibytes: 100, attackMs: 600, idleConnections: 2000, every: false },
    load: { lists: 2, deadCallbacks: 100, timed: 3, waitSeconds: 30, seconds: 10, times: 4 },
  },
};
const open = { UNDERTONE_SIGNUP: 'open', UNDERTONE_LOG_LEVEL: 'error' };

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const { slowerSeconds, load, unread, ...size } = sizes[long ? 'long' : 'short'];
  const sameOwner = { ...load, timed: 1, waitSeconds: 20 };
  return [
    ...(await unreadRequestRows(unread)),
    negativeControl('requests of a read handled at once', await controlRows(unread)),
    ...(long ? await resultRows(unread) : []),
    ...(await bodyRows(long)),
    ...(await uploadRows(slowerSeconds)),
    ...(await longRecordingRows(open, size.long)),
    negativeControl(
      'long recordings of its own',
      await longRecordingRows(open, { ...size.long, uploads: 1 }, true),
    ),
    ...(await queueRows(load)),
    negativeControl('one owner instead of two', await queueRows(sameOwner, true)),
    ...(await heldRows(long ? 1500 : 400)),
  ];
}

/** The control takes seconds to fill the memory. */
async function resultRows(goals: PipeliningGoals): Promise<Row[]> {
  const control = await unreadResultRows(goals, preload('whole-streams'));
  return [...(await unreadResultRows(goals)), negativeControl('results read whole', control)];
}

/** What jobs hold, waiting and finished. */
async function heldRows(jobs: number): Promise<Row[]> {
  return [
    ...(await payloadRows(jobs)),
    negativeControl('a buffer of a TiB', await payloadRows(jobs, 2 ** 40)),
    ...(await redisRows(40)),
    negativeControl('one owner instead of two in Redis', await redisRows(40, true)),
    ...(await callbackRows(60)),
    negativeControl('a queue of 10,000', await callbackRows(60, 10_000)),
    ...(await keptRows(30)),
    negativeControl('an owner that keeps more', await keptRows(30, 1000)),
  ];
}

async function bodyRows(long: boolean): Promise<Row[]> {
  const prefix = {
    UNDERTONE_JOB_URL_PREFIXES: 'http://127.0.0.1/',
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  const rows = await withJobs({ ...open, ...prefix, UNDERTONE_JOB_QUEUE: '100000' }, ({ server }) =>
    delayRows(server, costlyBodies, long),
  );
  const control = await withJobs(preload('slow-fields'), ({ server }) =>
    delayRows(server, [smallJson], long),
  );
  return [...rows, negativeControl('work on the main thread for each field', control)];
}

async function uploadRows(slowerSeconds: number): Promise<Row[]> {
  const rows = await withJobs(open, async ({ server }) => [
    ...(await attackRows(server, idle, slowerSeconds)),
    ...(await attackRows(server, stalled, slowerSeconds)),
  ]);
  const control = await withJobs({ ...open, ...preload('early-slots') }, ({ server }) =>
    attackRows(server, idle, slowerSeconds),
  );
  return [...rows, negativeControl('slots reserved before a byte arrives', control)];
}

// Request bodies within the limits that are as expensive as possible, and how long they delay /health.

const kibibyte = 2 ** 10;
const mebibyte = 2 ** 20;
/** A delay that the service causes occurs in every round; one of a busy machine does not. */
const rounds = 3;
const pauseMs = 2;

type CostlyBody = {
  readonly name: string;
  readonly path: string;
  readonly bytes: Buffer;
  readonly json?: true;
  /** One chunk per byte. */
  readonly byteChunks?: true;
  readonly longOnly?: true;
};

const logIn = operationOf('POST', 'log-in').split(' ')[1] as string;
const [jobs, analyze] = ['/v1/jobs', '/v1/analyze'];
/** The shortest boundary: the most lines in a body. */
const boundary = 'B';
const recording = Buffer.concat([
  Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="audio"\r\n\r\n`),
  toneFile(0.1),
]);

function form(payload: Buffer): Buffer {
  return Buffer.concat([recording, payload, Buffer.from(`\r\n--${boundary}--\r\n`)]);
}

function uniqueKeys(bytes: number): Buffer {
  const keys: string[] = [];
  for (let length = 2; length < bytes - 12; length += (keys.at(-1) as string).length + 1)
    keys.push(`"${keys.length.toString(36)}":0`);
  return Buffer.from(`{${keys.join(',')}}`);
}

function addressList(): Buffer {
  const url = (index: number) => `http://127.0.0.1/${'a/'.repeat(110)}${index}`;
  return Buffer.from(JSON.stringify({ urls: Array.from({ length: 1000 }, (_, index) => url(index)) }));
}

const emptyParts = (bytes: number) => form(Buffer.alloc(bytes, `\r\n--${boundary}\r\n\r\n`));
const chunkBytes = '1\r\nx\r\n'.length;
const chunked = form(Buffer.alloc((4 * mebibyte) / chunkBytes));
const nearBoundaries = form(Buffer.alloc(32 * mebibyte, `\r\n--${boundary}-`));
const keys = uniqueKeys(4 * mebibyte);

const smallJson: CostlyBody = {
  name: '256 KiB of JSON with unique keys',
  path: jobs,
  bytes: uniqueKeys(256 * kibibyte),
  json: true,
};

const costlyBodies: readonly CostlyBody[] = [
  { name: '4 MiB of empty parts', path: jobs, bytes: emptyParts(4 * mebibyte) },
  { name: '32 MiB of empty parts', path: jobs, bytes: emptyParts(32 * mebibyte), longOnly: true },
  { name: '4 MiB of empty parts', path: analyze, bytes: emptyParts(4 * mebibyte) },
  { name: '32 MiB of almost boundaries', path: jobs, bytes: nearBoundaries, longOnly: true },
  { name: '4 MiB of 1-byte chunks', path: jobs, bytes: chunked, byteChunks: true },
  { name: '4 MiB of 1-byte chunks', path: analyze, bytes: chunked, byteChunks: true },
  smallJson,
  { name: '4 MiB of JSON with unique keys', path: jobs, bytes: keys, json: true },
  { ...smallJson, path: logIn },
  { name: '4 MiB of JSON with unique keys', path: logIn, bytes: keys, json: true },
  { name: '1,000 addresses', path: jobs, bytes: addressList(), json: true, longOnly: true },
];

/** An ordinary body of the same length for the same route. */
function ordinary({ name, path, bytes, json }: CostlyBody): CostlyBody {
  const text = () => Buffer.from(JSON.stringify({ text: 'x'.repeat(bytes.length - 12) }));
  return { name, path, bytes: json ? text() : form(Buffer.alloc(bytes.length)), ...(json ? { json } : {}) };
}

function frame({ bytes, byteChunks }: CostlyBody): { readonly header: string; readonly payload: Buffer } {
  if (!byteChunks) return { header: `Content-Length: ${bytes.length}`, payload: bytes };
  const chunks = Buffer.alloc(chunkBytes * bytes.length, '1\r\nx\r\n');
  for (const [index, byte] of bytes.entries()) chunks[chunkBytes * index + 3] = byte;
  const payload = Buffer.concat([chunks, Buffer.from('0\r\n\r\n')]);
  return { header: 'Transfer-Encoding: chunked', payload };
}

/** The request as bytes. */
function requestOf({ url, token }: Server, body: CostlyBody): Buffer {
  const { header, payload } = frame(body);
  const lines = [
    `POST ${body.path} HTTP/1.1`,
    `Host: ${new URL(url).host}`,
    `Origin: ${url}`,
    `Authorization: Bearer ${token}`,
    `Content-Type: ${body.json ? 'application/json' : `multipart/form-data; boundary=${boundary}`}`,
    'Connection: close',
    header,
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), payload]);
}

type Delay = {
  readonly status: number;
  /** The longest answer of /health. */
  readonly ms: number;
  /** The most processor time of the service's main thread from one of these requests to the next, and in all. */
  readonly workMs: number;
  readonly totalMs: number;
};

/** Requests /health in a loop until the body is answered. */
async function delayOf(server: Server, body: CostlyBody): Promise<Delay> {
  const { port } = server;
  const pid = server.process.pid as number;
  const bytes = requestOf(server, body);
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  await exchange({ port, path: '/health', agent });
  let [ms, workMs, status] = [0, 0, -1];
  const before = mainThreadMs(pid);
  const sent = sendRaw(port, bytes).then((answer) => {
    status = answer.status;
  });
  while (status < 0) {
    const asked = mainThreadMs(pid);
    const answer = await exchange({ port, path: '/health', agent });
    ms = Math.max(ms, answer.status === 200 ? answer.ms : Number.POSITIVE_INFINITY);
    await sleep(pauseMs);
    workMs = Math.max(workMs, mainThreadMs(pid) - asked);
  }
  await sent;
  agent.destroy();
  return { status, ms, workMs, totalMs: mainThreadMs(pid) - before };
}

/**
 * Long: how long the main thread works while one /health waits, which on a quiet machine is how long it waits. Short: how
 * long it works for the whole body, above an ordinary one of the same length. Neither counts what other processes take.
 */
const limits = { long: 50, short: 300 };

async function delayRow(server: Server, body: CostlyBody, long: boolean): Promise<Row> {
  const limit = long ? limits.long : limits.short;
  let best = Number.POSITIVE_INFINITY;
  let note = '';
  for (let round = 0; round < rounds && best > limit; round++) {
    const plain = await delayOf(server, ordinary(body));
    const hostile = await delayOf(server, body);
    const value = long ? hostile.workMs : Math.max(0, hostile.totalMs - plain.totalMs);
    if (value > best) continue;
    best = value;
    const times = ({ ms, totalMs }: Delay) =>
      `${ms.toFixed(0)} ms to answer, ${totalMs.toFixed(0)} ms of work`;
    note = `answered ${hostile.status}, ${times(hostile)}; an ordinary body: ${times(plain)}`;
  }
  const name = long ? '/health delayed by' : 'work for';
  return atMost(limit, `${name} ${body.name} at ${body.path}`, 'ms', best, note);
}

async function delayRows(server: Server, bodies: readonly CostlyBody[], long: boolean): Promise<Row[]> {
  const rows: Row[] = [];
  for (const body of bodies.filter(({ longOnly }) => long || !longOnly))
    rows.push(await delayRow(server, body, long));
  return rows;
}

// One account opens uploads and sends little or nothing; another account is not affected.

const connections = 128;
const settleMs = 1500;
const uses = 3;

type UploadAttack = {
  readonly name: string;
  readonly path: string;
  /** Bytes that each connection sends before it stops. */
  sentBytes(connection: number): number;
};

const idle: UploadAttack = { name: 'idle', path: '/v1/jobs', sentBytes: () => 0 };
/** In total more than UNDERTONE_BUFFER_BYTES; the last uploads are small and fill the rest. */
const stalled: UploadAttack = {
  name: 'stalled',
  path: '/v1/analyze',
  sentBytes: (connection) => Math.min(2.25 * 2 ** 20, 2 ** ((connections - connection) / 2 + 11)),
};

async function openUpload(port: number, token: string, path: string, sentBytes: number): Promise<Wire> {
  const client = await wire(port);
  const lines = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  lines.push(`Content-Type: ${contentType}`, 'Content-Length: 20000000', '', '');
  client.socket.write(lines.join('\r\n'));
  if (sentBytes > 0) client.socket.write(Buffer.alloc(sentBytes));
  return client;
}

async function useRepeatedly(server: Server, account: Account): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let times = 0; times < uses; times++) answers.push(...(await useService(server, account)));
  return answers;
}

const slowest = (answers: readonly Answer[], what: string) =>
  Math.max(...answers.filter((one) => one.what === what).map(({ ms }) => ms));

async function attackRows(server: Server, attack: UploadAttack, slowerSeconds: number): Promise<Row[]> {
  const [attacker, other] = [
    await openAccount(server, `attacker-${attack.name}`),
    await openAccount(server, `other-${attack.name}`),
  ];
  const before = await useRepeatedly(server, other);
  const clients: Wire[] = [];
  try {
    for (let index = 0; index < connections; index++)
      clients.push(await openUpload(server.port, attacker.token, attack.path, attack.sentBytes(index)));
    await sleep(settleMs);
    const during = await useRepeatedly(server, other);
    const kinds = [...new Set(before.map(({ what }) => what))];
    const delays = kinds.map((what) => slowest(during, what) - slowest(before, what));
    const refused = during.filter(({ ok }) => !ok);
    const name = (what: string) => `${connections} ${attack.name} uploads: ${what}`;
    return [
      none(
        name('requests of another account not answered'),
        refused.map(({ what }) => what),
        during.length,
      ),
      atMost(
        slowerSeconds,
        name('slower for another account by'),
        's',
        refused.length > 0 ? null : Math.max(...delays) / 1000,
        kinds.map((what) => `${what} ${slowest(during, what).toFixed(0)} ms`).join(', '),
      ),
    ];
  } finally {
    for (const { socket } of clients) socket.destroy();
  }
}
