/** Requests with a wrong Content-Length or wrong chunks. */
import { type Answer, sendRaw } from '../support/client.ts';
import type { Prng } from '../support/prng.ts';
import type { Form } from './forms.ts';

type Framing = (body: Buffer, prng: Prng) => { readonly headers: readonly string[]; readonly bytes: Buffer };

const chunked = ['Transfer-Encoding: chunked'];
const chunk = (size: string, body: Buffer) =>
  Buffer.concat([Buffer.from(`${size}\r\n`), body, Buffer.from('\r\n')]);
const end = Buffer.from('0\r\n\r\n');

const framings: readonly Framing[] = [
  (body, prng) => ({ headers: [`Content-Length: ${prng.below(body.length + 1)}`], bytes: body }),
  (body, prng) => ({ headers: [`Content-Length: ${body.length + 1 + prng.below(10_000)}`], bytes: body }),
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

/** Status 0: the connection ended without an answer, which an incomplete request may cause. */
export function sendMisframed(
  port: number,
  token: string,
  path: string,
  form: Form,
  prng: Prng,
): Promise<Answer> {
  const { headers, bytes } = prng.pick(framings)(form.body, prng);
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
  return sendRaw(port, Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), bytes]), true);
}
