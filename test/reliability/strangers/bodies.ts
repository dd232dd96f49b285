/** Request bodies within the limits that are as expensive as possible, and how long they delay /health. */
import { Agent } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { mainThreadMs } from '../../../benchmarks/process.ts';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import { atMost, type Row } from '../case.ts';
import { operationOf } from '../contract/visitor.ts';
import { sendRaw } from '../support/client.ts';
import { exchange } from '../support/exchange.ts';
import type { Server } from '../support/service.ts';

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

export const smallJson: CostlyBody = {
  name: '256 KiB of JSON with unique keys',
  path: jobs,
  bytes: uniqueKeys(256 * kibibyte),
  json: true,
};

export const costlyBodies: readonly CostlyBody[] = [
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

export async function delayRows(
  server: Server,
  bodies: readonly CostlyBody[],
  long: boolean,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (const body of bodies.filter(({ longOnly }) => long || !longOnly))
    rows.push(await delayRow(server, body, long));
  return rows;
}
