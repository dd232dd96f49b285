/** Requests whose framing lies, over a socket of their own. */
import { connect } from 'node:net';
import { type Answer, patienceSeconds } from './ask.ts';
import type { Dice } from './dice.ts';
import type { Form } from './forms.ts';

type Framing = (body: Buffer, dice: Dice) => { readonly headers: readonly string[]; readonly bytes: Buffer };

const chunked = ['Transfer-Encoding: chunked'];
const chunk = (size: string, body: Buffer) =>
  Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n')]);
const end = Buffer.from('0\r\n\r\n');

const framings: readonly Framing[] = [
  (body, dice) => ({ headers: [`Content-Length: ${dice.below(body.length + 1)}`], bytes: body }),
  (body, dice) => ({ headers: [`Content-Length: ${body.length + 1 + dice.below(10_000)}`], bytes: body }),
  (body) => ({ headers: ['Content-Length: -1'], bytes: body }),
  (body) => ({ headers: ['Content-Length: 1', `Content-Length: ${body.length}`], bytes: body }),
  (body) => ({ headers: [...chunked, `Content-Length: ${body.length}`], bytes: body }),
  (body) => ({ headers: chunked, bytes: Buffer.concat([chunk(body.length.toString(16), body), end]) }),
  (body) => ({ headers: chunked, bytes: chunk(body.length.toString(16), body) }),
  (body) => ({ headers: chunked, bytes: chunk('ffffffffffffffff', body) }),
  (body) => ({ headers: chunked, bytes: chunk('xyz', body) }),
  (body) => ({ headers: chunked, bytes: Buffer.concat([chunk('1', body), end]) }),
  (body) => ({ headers: [], bytes: body }),
];

/** Status 0: the connection ended without an answer, as it may where the client broke off. */
export function sendFramed(
  port: number,
  token: string,
  path: string,
  form: Form,
  dice: Dice,
): Promise<Answer> {
  const { headers, bytes } = dice.pick(framings)(form.body, dice);
  const type = form.contentType === null ? [] : [`Content-Type: ${form.contentType}`];
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    `Authorization: Bearer ${token}`,
    ...type,
    ...headers,
    '',
    '',
  ];
  return exchange(port, Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]));
}

function exchange(port: number, bytes: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`no end within ${patienceSeconds} s`));
    }, 1000 * patienceSeconds);
    let text = '';
    socket.on('data', (received) => {
      text += received.toString('latin1');
    });
    socket.on('error', () => socket.destroy()); // a reset: what came before it counts
    socket.on('end', () => socket.destroy());
    socket.on('close', () => {
      clearTimeout(timer);
      resolve(firstAnswer(text, performance.now() - started));
    });
    socket.end(bytes);
  });
}

function firstAnswer(text: string, ms: number): Answer {
  const [head = '', rest = ''] = text.split('\r\n\r\n', 2);
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1] ?? 0);
  const length = Number(/^content-length: (\d+)/im.exec(head)?.[1] ?? 0);
  return { status, type: /^content-type: (.*)$/im.exec(head)?.[1] ?? '', body: rest.slice(0, length), ms };
}
