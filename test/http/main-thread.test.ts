/** Bodies built to be slow to read cost the main thread no more than a plain upload. */
import { readFileSync } from 'node:fs';
import test, { type ExecutionContext } from 'ava';
import { contentType, multipart } from '../../benchmarks/upload-body.ts';
import { wire } from '../support/http.ts';
import { type JobStack, startJobStack } from '../support/jobs.ts';

type Body = { readonly path: string; readonly type: string; readonly framed: Buffer };

const bytes = 2 ** 22;
/** Allows for interruptions of the thread and for compilation of its first requests. */
const factor = 4;
const tries = 3;

/** CPU time of the main thread, independent of other load on the machine. */
function mainThreadMs(pid: number): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ')[0]) / 1e6;
}

const whole = (body: Buffer) => Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`), body]);

function inChunks(body: Buffer, chunkBytes: number): Buffer {
  const pieces: Uint8Array[] = [Buffer.from('Transfer-Encoding: chunked\r\n\r\n')];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const piece = body.subarray(at, at + chunkBytes);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), piece, Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}

const form = multipart([{ name: 'audio', bytes: Buffer.alloc(bytes, 'x') }]);
const shortType = 'multipart/form-data; boundary=B';
const manyParts = Buffer.alloc(bytes, '\r\n--B\r\n\r\n');
manyParts.write('--B\r\nContent-Disposition: form-data; name="audio"\r\n\r\nx');
const keys = Array.from({ length: 3e5 }, (_, index) => `"k${index.toString(36)}":${index % 10}`).join(',');

const plain = (path: string): Body => ({ path, type: contentType, framed: whole(form) });

const hostile: Readonly<Record<string, Body>> = {
  'parts without end, to a job': { path: '/v1/jobs', type: shortType, framed: whole(manyParts) },
  'parts without end, to an analysis': { path: '/v1/analyze', type: shortType, framed: whole(manyParts) },
  'chunks of one byte, to a job': {
    path: '/v1/jobs',
    type: contentType,
    framed: inChunks(form.subarray(0, bytes / 6), 1),
  },
  'chunks of one byte, to an analysis': {
    path: '/v1/analyze',
    type: contentType,
    framed: inChunks(form.subarray(0, bytes / 6), 1),
  },
  'chunks of one byte, to nobody': {
    path: '/v1/nothing',
    type: contentType,
    framed: inChunks(form.subarray(0, bytes / 6), 1),
  },
  'JSON with as many keys as it may have': {
    path: '/v1/jobs',
    type: 'application/json',
    framed: whole(Buffer.from(`{${keys.slice(0, keys.lastIndexOf(',', 2 ** 18 - 2))}}`)),
  },
  'JSON with many keys': {
    path: '/v1/jobs',
    type: 'application/json',
    framed: whole(Buffer.from(`{${keys}}`)),
  },
};

/** CPU time of the main thread from the first byte of a body until the connection is closed. */
async function spend({ server }: JobStack, { path, type, framed }: Body): Promise<number> {
  const pid = server.process.pid as number;
  const before = mainThreadMs(pid);
  const client = await wire(server.port);
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${server.token}`,
    `Content-Type: ${type}`,
    'Connection: close',
  ];
  client.socket.write(`${head.join('\r\n')}\r\n`);
  const written = new Promise((done) => client.socket.write(framed, done));
  // The cost includes a client that keeps sending after the response.
  await Promise.all([client.ended(), written]);
  client.socket.destroy();
  return mainThreadMs(pid) - before;
}

async function repeat(t: ExecutionContext, place: JobStack, body: Body): Promise<number[]> {
  const spent: number[] = [];
  for (let count = 0; count < tries; count++) spent.push(await spend(place, body));
  t.log(`${body.path}: ${spent.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  return spent;
}

test.serial('no body costs the main thread more than a plain upload of its length', async (t) => {
  const place = await startJobStack(t);
  const [job, analysis] = [plain('/v1/jobs'), plain('/v1/analyze')];
  await repeat(t, place, job);
  const most = Math.max(...(await repeat(t, place, job)), ...(await repeat(t, place, analysis)));
  for (const [name, body] of Object.entries(hostile)) {
    const least = Math.min(...(await repeat(t, place, body)));
    t.true(least < factor * most, `${name}: ${least.toFixed(0)} ms, a plain upload ${most.toFixed(0)} ms`);
  }
});
