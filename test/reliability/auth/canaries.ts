/** Unique words in every part of a request, and a search for them where they could be stored. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { boundary, contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { createTokenSecret } from '../../../src/service/auth/token-format.ts';
import { call, wire } from '../../support/http.ts';
import { createAccountClient, operationOf } from '../contract/visitor.ts';
import type { Server } from '../support/service.ts';

export type Canaries = Readonly<
  Record<'audio' | 'text' | 'fileName' | 'part' | 'path' | 'query' | 'token' | 'password', string>
>;

export function makeCanaries(): Canaries {
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
export function findCanaries(
  canaries: Readonly<Record<string, string>>,
  place: string,
  bytes: Buffer,
): string[] {
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

export function findInFolder(canaries: Canaries, folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((name) => {
    const file = join(folder, name);
    return statSync(file).isFile() ? findCanaries(canaries, name, readFileSync(file)) : [];
  });
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
export async function sendCanaries({ port, token }: Server, canaries: Canaries): Promise<Buffer[]> {
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
export async function useAccount(server: Server, canaries: Canaries): Promise<Canaries> {
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
