/** Request smuggling, and malicious request targets. */
import test, { type ExecutionContext } from 'ava';
import { rawHead, startApp, untilMetric } from '../support/app.ts';
import { bodyOf, exchangeBytes } from '../support/http.ts';
import { share } from '../support/share.ts';

const shared = share(test, startApp);

const post = 'POST /v1/analyze/emotion HTTP/1.1\r\nHost: x\r\n';
/** A request whose end is ambiguous, with a second request hidden in it. */
const hidden = 'GET /health HTTP/1.1\r\nHost: x\r\nX-Request-Id: hidden\r\n\r\n';
const smuggled: Record<string, string> = {
  'a length and chunks': `${post}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'chunks and a length': `${post}Transfer-Encoding: chunked\r\nContent-Length: 6\r\n\r\n0\r\n\r\n${hidden}`,
  'two lengths': `${post}Content-Length: 0\r\nContent-Length: ${hidden.length}\r\n\r\n${hidden}`,
  'a list of lengths': `${post}Content-Length: 0, ${hidden.length}\r\n\r\n${hidden}`,
  'a negative length': `${post}Content-Length: -1\r\n\r\n${hidden}`,
  'a signed length': `${post}Content-Length: +1\r\n\r\n${hidden}`,
  'a length that is no number': `${post}Content-Length: 0x10\r\n\r\n${hidden}`,
  'a length beyond 64 bits': `${post}Content-Length: 99999999999999999999\r\n\r\n${hidden}`,
  'a folded header': `${post}Transfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'space before a colon': `${post}Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a coding that is not chunked': `${post}Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n${hidden}`,
  'a coding that is nearly chunked': `${post}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n${hidden}`,
  'a bare line feed': `POST /v1/analyze HTTP/1.1\nHost: x\nContent-Length: 5\n\n${hidden}`,
  'a bare carriage return': `${post}X: a\rContent-Length: 5\r\n\r\n${hidden}`,
  'a null byte in a header': `${post}X: a\0b\r\n\r\n${hidden}`,
  'a null byte in a name': `${post}X\0Y: a\r\n\r\n${hidden}`,
  'a null byte in the path': 'GET /hea\0lth HTTP/1.1\r\nHost: x\r\n\r\n',
  'a space in the path': 'GET /health /v1 HTTP/1.1\r\nHost: x\r\n\r\n',
  'a method in small letters': 'get /health HTTP/1.1\r\nHost: x\r\n\r\n',
  'a method that is none': `ANALYSE /v1/analyze HTTP/1.1\r\nHost: x\r\n\r\n${hidden}`,
  'another version': 'GET /health HTTP/1.2\r\nHost: x\r\n\r\n',
  'HTTP/0.9': 'GET /health\r\n\r\n',
};

function checkRefusal(t: ExecutionContext, answer: string): void {
  t.regex(answer, /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*\r\nConnection: close\r\n/i);
  t.deepEqual(answer.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 400']);
  t.false(answer.includes('hidden'));
}

for (const [name, bytes] of Object.entries(smuggled)) {
  test.serial(`${name}: refused with 400, and the rest gets no response`, async (t) => {
    checkRefusal(t, await exchangeBytes(shared().port, bytes));
  });
}

const brokenChunks: Record<string, string> = {
  'a size that is no number': 'zz\r\n',
  'a negative size': '-1\r\nx\r\n',
  'a size beyond 64 bits': 'fffffffffffffffff\r\nx',
  'a chunk longer than its size': '1\r\nxx\r\n0\r\n\r\n',
  'a size ended by a bare line feed': '1\nx\r\n0\r\n\r\n',
  'an extension with a null byte': '1;a=\0\r\nx\r\n0\r\n\r\n',
};

for (const [name, chunks] of Object.entries(brokenChunks)) {
  test.serial(`chunks with ${name}: refused with 400, and the rest gets no response`, async (t) => {
    const app = shared();
    const bytes = `${rawHead('Transfer-Encoding: chunked')}\r\n${chunks}${hidden}`;
    checkRefusal(t, await exchangeBytes(app.port, bytes));
    await untilMetric(app, 'undertone_held_bytes', 0);
  });
}

const unknownTargets: Record<string, string> = {
  'a path of 12,000 letters': `/${'x'.repeat(12_000)}`,
  'a path that climbs': '/../../../../etc/passwd',
  'a path that climbs in disguise': '/%2e%2e/%2e%2e/etc/passwd',
  'an asset that climbs': '/assets/..%2f..%2fpackage.json',
  'an asset with a null byte': '/assets/%00',
  'a broken escape': '/assets/%zz',
  'half a character': '/assets/%c3',
  'two slashes': '//evil.example/health',
  'no path at all': '*',
};

test.serial('malicious request targets are 404 in JSON', async (t) => {
  const { port } = shared();
  for (const [name, target] of Object.entries(unknownTargets)) {
    const answer = await exchangeBytes(
      port,
      `GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`,
    );
    t.regex(answer, /^HTTP\/1\.1 404 /, name);
    t.is(JSON.parse(bodyOf(answer)).code, 'not_found', name);
  }
});

test.serial('1,500 headers within the limit of bytes are accepted, 5,000 beyond it are 431', async (t) => {
  const { port } = shared();
  const lines = (count: number) => Array.from({ length: count }, (_, index) => `a${index}:\r\n`).join('');
  const ask = (count: number) =>
    exchangeBytes(port, `GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${lines(count)}\r\n`);
  t.regex(await ask(1500), /^HTTP\/1\.1 200 /);
  t.regex(await ask(5000), /^HTTP\/1\.1 431 /);
});
