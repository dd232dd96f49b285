/** What remains of a request: nothing of it in log, metrics, answers, data folder or any other file. */

import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { installPackages } from '../../../benchmarks/packages.ts';
import { boundary, contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { createTokenSecret } from '../../../src/service/auth/token-format.ts';
import { readAll } from '../../support/folder.ts';
import { call, wire } from '../../support/http.ts';
import { atLeast, negativeControl, none, type Row } from '../case.ts';
import { createAccountClient, operationOf } from '../support/account.ts';
import { buildService, type PreloadScript, preload, type Server, withServer } from '../support/service.ts';

export async function run(): Promise<readonly Row[]> {
  buildService();
  return [
    ...(await retention('throwing-host')),
    negativeControl('a service that stores requests', await retention('throwing-host', 'request-recorder')),
  ];
}

function retention(...scripts: readonly PreloadScript[]): Promise<Row[]> {
  return withServer({ UNDERTONE_LOG_LEVEL: 'trace', ...preload(...scripts) }, async (server) => {
    const found = new Set<string>();
    const search = (canaries: Readonly<Record<string, string>>, place: string, bytes: Buffer) => {
      for (const one of findCanaries(canaries, place, bytes)) found.add(one);
    };
    const canaries = makeCanaries();
    const { answers, trace } = await traced(server, () => sendCanaries(server, canaries));
    // An answer names an unknown path to its client alone.
    const { path: _, ...hidden } = canaries;
    for (const answer of answers) search(hidden, 'an answer', answer);
    const withToken = await useAccount(server, canaries);
    const { body } = await call(server.port, { path: '/metrics' });
    await server.stop();
    search(withToken, 'the metrics', Buffer.from(body));
    search(withToken, 'the log', Buffer.from(server.stderr()));
    search(withToken, 'the output', Buffer.from(server.stdout()));
    for (const one of findInFolder(withToken, server.dataDir)) found.add(one);
    const stored = [...new Set(trace.stored)].map((call) => call.slice(0, 100));
    return [
      none('places with audio, a name, a token or a password', [...found], 'all'),
      atLeast(1, 'system calls that write or create files, while analysing', 'calls', trace.seen),
      none('system calls that write to a file', stored, trace.seen),
    ];
  });
}

async function traced<Result>(
  server: Server,
  work: () => Promise<Result>,
): Promise<{ answers: Result; trace: TraceResult }> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-trace-'));
  try {
    const tracing = await traceWrites(server.process.pid as number, join(folder, 'trace'));
    const answers = await work();
    return { answers, trace: await tracing.end() };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

// Unique words in every part of a request, and a search for them where they could be stored.

type Canaries = Readonly<
  Record<'audio' | 'text' | 'fileName' | 'part' | 'path' | 'query' | 'token' | 'password', string>
>;

function makeCanaries(): Canaries {
  const word = (kind: string) => `canary-${kind}-${randomBytes(12).toString('hex')}`;
  return {
    audio: word('audio'),
    text: word('text'),
    fileName: word('name'),
    part: word('part'),
    path: word('path'),
    query: word('query'),
    token: createTokenSecret(),
    password: word('password'),
  };
}

/** Plain, hexadecimal, base64 and URL-encoded. */
function findCanaries(canaries: Readonly<Record<string, string>>, place: string, bytes: Buffer): string[] {
  return Object.entries(canaries).flatMap(([kind, word]) => {
    const plain = Buffer.from(word);
    const shapes = [
      word,
      plain.toString('hex'),
      plain.toString('base64').replace(/=+$/, ''),
      encodeURIComponent(word),
    ];
    return shapes.some((shape) => bytes.includes(shape)) ? [`${kind} in ${place}`] : [];
  });
}

function findInFolder(canaries: Canaries, folder: string): string[] {
  return readAll(folder).flatMap(({ name, bytes }) => findCanaries(canaries, name, bytes));
}

/** A recording with words in its samples and a text chunk. */
function recording({ audio, text }: Canaries): Buffer {
  const sound = toneFile(1);
  for (let at = 2000; at < 20_000; at += 1000) sound.write(audio, at, 'latin1');
  const words = Buffer.from(
    `INFOICMT${String.fromCharCode(text.length)}\0\0\0${text}`.padEnd(96, ' '),
    'latin1',
  );
  const head = Buffer.from('LIST\0\0\0\0');
  head.writeUInt32LE(words.length, 4);
  const whole = Buffer.concat([sound, head, words]);
  whole.writeUInt32LE(whole.length - 8, 4);
  return whole;
}

/** Requests with every outcome of an analysis. @returns the responses */
async function sendCanaries({ port, token }: Server, canaries: Canaries): Promise<Buffer[]> {
  const { fileName, part, path, query, text } = canaries;
  const good = { name: 'audio', bytes: recording(canaries), type: 'audio/wav', filename: `${fileName}.wav` };
  const bodies = [
    multipart([good]),
    multipart([good, { name: 'baseline', bytes: recording(canaries) }]),
    multipart([{ ...good, name: part }]),
    multipart([{ ...good, type: 'text/plain' }]),
    multipart([{ ...good, bytes: text }]),
    multipart([{ ...good, bytes: recording(canaries).subarray(0, 60) }]),
    multipart([good, { name: 'channel', bytes: text }]),
    Buffer.concat([multipart([good]).subarray(0, 5000), Buffer.from(text)]),
    Buffer.from(`${boundary}${text}`),
  ];
  const answers: Buffer[] = [];
  const ask = async (
    body: Buffer,
    bearer: string,
    target = '/v1/analyze',
    more: Record<string, string> = {},
  ) => {
    const headers = { 'Content-Type': contentType, Authorization: `Bearer ${bearer}`, ...more };
    const reply = await call(port, { method: 'POST', path: target, headers, body });
    answers.push(Buffer.from(JSON.stringify(reply)));
  };
  for (const body of bodies) await ask(body, token);
  for (const bearer of [canaries.token, `${text} ${text}`, text]) await ask(bodies[0] as Buffer, bearer);
  await ask(bodies[0] as Buffer, token, `/v1/analyze?${query}`, {
    'X-Request-Id': `<${text}>`,
    'X-Fault': text,
  });
  await ask(bodies[0] as Buffer, token, `/v1/${path}`, { Cookie: `undertone.session_token=${text}` });
  await disconnect(port, token, bodies[0] as Buffer);
  return answers;
}

/** A client that disconnects during its upload, and invalid chunks. */
async function disconnect(port: number, token: string, body: Buffer): Promise<void> {
  const head = `POST /v1/analyze HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: ${contentType}\r\n`;
  const client = await wire(port);
  client.socket.write(`${head}Content-Length: ${body.length}\r\n\r\n`);
  client.socket.write(body.subarray(0, body.length - 100), () => client.socket.destroy());
  const broken = await wire(port);
  broken.socket.write(`${head}Transfer-Encoding: chunked\r\n\r\nzz`);
  broken.socket.write(body.subarray(0, 4000));
  await broken.ended();
  broken.socket.destroy();
}

/** Valid and wrong passwords, and a token. @returns the canaries with that token */
async function useAccount(server: Server, canaries: Canaries): Promise<Canaries> {
  const accountClient = createAccountClient(server, () => {});
  const { password } = canaries;
  const post = (path: string) => operationOf('POST', path);
  await accountClient.ask(post('sign-up'), { email: 'ada@home.example', password });
  await accountClient.ask(post('log-in'), { email: 'ada@home.example', password });
  await accountClient.ask(post('log-in'), { email: 'nobody@home.example', password });
  await accountClient.ask(post('log-in'), `{"password":"${password}`);
  await accountClient.ask(post('password'), { current_password: `${password}x`, new_password: password });
  const made = await accountClient.ask(post('tokens'), {
    name: 'ci',
    scopes: ['analyze:emotion', 'analyze:cognitive'],
  });
  const token = String(made.token);
  await sendCanaries({ ...server, token }, canaries);
  return { ...canaries, token };
}

// File writes of a process, recorded by strace; sockets, pipes and the log do not count.

const writing =
  'write,writev,pwrite64,pwritev,pwritev2,sendfile,copy_file_range,splice,truncate,ftruncate,fallocate';
const naming =
  'open,openat,openat2,creat,rename,renameat,renameat2,link,linkat,symlink,symlinkat,mkdir,mkdirat';
/** A descriptor as `strace -y` shows it: nothing else is a file. */
const notStored = /^\w+\(\d+<(?:TCP|TCPv6|UDP|UDPv6|UNIX|socket|pipe|anon_inode|\/dev\/null)[^>]*>/;
const opensToRead = /^open(?:at2?)?\(.*O_RDONLY(?!.*(?:O_CREAT|O_TRUNC|O_WRONLY|O_RDWR))/;

type Trace = { end(): Promise<TraceResult> };
type TraceResult = {
  /** Calls that wrote to a file or made one. */
  readonly stored: readonly string[];
  /** All recorded calls; 0 means that strace saw nothing. */
  readonly seen: number;
};

/** Attaches to all current and future threads. */
async function traceWrites(pid: number, file: string): Promise<Trace> {
  installPackages(['strace']);
  const args = ['-f', '-y', '-s', '64', '-e', `trace=${writing},${naming}`, '-o', file, '-p', String(pid)];
  const child = spawn('strace', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  await attached(child);
  return {
    end: async () => {
      // strace writes with a delay.
      await sleep(500);
      const closed = once(child, 'close');
      child.kill('SIGINT');
      await closed;
      return readTrace(readFileSync(file, 'utf8'));
    },
  };
}

async function attached(child: ChildProcess): Promise<void> {
  let output = '';
  const ready = new Promise<void>((resolve) => {
    child.stderr?.on('data', (chunk) => {
      output += chunk;
      if (/attached/.test(output)) resolve();
    });
  });
  await Promise.race([ready, once(child, 'close')]);
  if (!/attached/.test(output)) throw new Error(`Expected strace to attach, got ${output}`);
}

/** Lines are `PID call(...) = result`; the first line of an interrupted call has the names. */
function readTrace(text: string): TraceResult {
  const calls = text
    .split('\n')
    .map((line) => line.replace(/^\d+\s+/, ''))
    .filter((call) => /^[a-z]\w+\(/.test(call));
  const stored = calls.filter((call) => !notStored.test(call) && !opensToRead.test(call));
  return { stored, seen: calls.length };
}
