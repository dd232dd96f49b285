/** Recordings that jobs fetch, and lists of their URLs. */
import test from 'ava';
import { checkAudioUrl, fetchAudio } from '../../src/service/jobs/remote-audio.ts';
import { call, type Reply } from '../support/http.ts';
import { startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { share } from '../support/share.ts';
import { words } from '../support/words.ts';

const rules = {
  urlPrefixes: ['https://bucket.example/a/'],
  privateHosts: [],
  maxBytes: 1000,
  uploadSeconds: 5,
};
const isTaken = (url: string, urlPrefixes: readonly string[] = rules.urlPrefixes) =>
  checkAudioUrl(url, { ...rules, urlPrefixes }) === null;
const base = 'https://bucket.example/a/';

const taken = words`
  b.wav b/c.wav?X-Amz-Signature=a%2Fb%2e%2e%2fc&path=../.. deep/er/than/that.wav
  a%20call%20of%20%C3%A4%20person.wav with%20spaces%20encoded%20twice?%20no 100%25.wav ..hidden.wav two..dots.wav
  a;version=2.wav b//c.wav %7Euser/b.wav x/../b.wav b.wav#fragment/../..
`;

const refused: Readonly<Record<string, readonly string[]>> = {
  'outside the prefix': words`../b.wav %2e%2e/b.wav .%2E/b.wav ..`,
  'a slash or backslash that the server decodes': words`
    ..%2fsecret.wav ..%2Fsecret.wav %2e%2e%2fsecret.wav b%2f..%2f..%2fsecret.wav b%2fc.wav ..%5csecret.wav
    %5c..%5csecret.wav b%5cc.wav ..\\secret.wav b\\c.wav
  `,
  'path parameters, which some servers remove before they resolve dots': words`
    ..;/secret.wav ..;a=b/secret.wav .;/b.wav %2e%2e;/secret.wav ..%3b/secret.wav ;/b.wav
  `,
  'encoded twice, or not in UTF-8': words`
    ..%252fsecret.wav %252e%252e/secret.wav ..%255csecret.wav b%25%32%66c.wav ..%c0%afsecret.wav
    %c0%ae%c0%ae/secret.wav ..%u2215secret.wav b%zz.wav b%.wav
  `,
  'characters that become others when they are normalised': words`
    ..%EF%BC%8Fsecret.wav %EF%BC%8E%EF%BC%8E/secret.wav ..／secret.wav
  `,
  'dots that some file systems drop': words`.../secret.wav ..%20/secret.wav %20../secret.wav`,
  'control characters': [
    ...words`b%00.wav b%0d%0a.wav b%7f.wav b%c2%85.wav`,
    ...['b\n.wav', '..\t/secret.wav', 'b\u0000.wav', ' b.wav', 'b.wav '],
  ],
};

test('a URL below the prefix is accepted; one that some server reads as outside of it is refused', (t) => {
  for (const path of taken) t.true(isTaken(base + path), path);
  for (const [why, paths] of Object.entries(refused))
    for (const path of paths) t.false(isTaken(base + path), `${why}: ${path}`);
});

test('scheme, host, port and user are those of the prefix', (t) => {
  for (const url of words`
    http://bucket.example/a/c.wav https://bucket.example:444/a/c.wav https://bucket.example./a/c.wav
    https://bucket.example.evil.org/a/c.wav https://bucket.example@evil.org/a/c.wav
    https://bucket.example%2f@evil.org/a/c.wav https://bucket.example\\@evil.org/a/c.wav
    https://user@bucket.example/a/c.wav https://@bucket.example/a/c.wav https://:@bucket.example/a/c.wav
    https://user:password@bucket.example/a/c.wav https:/bucket.example/a/c.wav https:bucket.example/a/c.wav
    https:\\\\bucket.example\\a\\c.wav //bucket.example/a/c.wav file://bucket.example/a/c.wav
    https://bucket.example/A/c.wav https://bucket.example/ab/c.wav https://bucket.example/a
    https://bucket.example/b/c.wav https://bucket.example/a/%2e%2e/b/c.wav ftp://bucket.example/a/c.wav nowhere
  `) {
    t.false(isTaken(url), url);
  }
  t.true(isTaken('HTTPS://Bucket.Example:443/a/c.wav'));
});

test('a prefix and a URL may be encoded differently', (t) => {
  t.true(isTaken('https://bucket.example/my%20calls/b.wav', ['https://bucket.example/my%20calls/']));
  t.true(isTaken('https://bucket.example/%7Eada/b.wav', ['https://bucket.example/~ada/']));
  t.true(isTaken('https://bucket.example/%61/b.wav', ['https://bucket.example/a/']));
  t.true(isTaken('https://bucket.example/b.wav', ['https://other.example/', 'https://bucket.example/']));
  t.false(isTaken('https://bucket.example/b/c.wav', ['https://bucket.example/%62%2f/']));
});

/** A path below the prefix `a/` of a server. */
function fetchFrom(port: number, path: string) {
  const prefix = `http://127.0.0.1:${port}/a/`;
  const here = { ...rules, urlPrefixes: [prefix], privateHosts: ['127.0.0.1'] };
  return fetchAudio(prefix + path, here, new AbortController().signal);
}

for (const status of [301, 302, 303, 307, 308]) {
  test(`a redirect (${status}) is not followed, wherever it leads`, async (t) => {
    const asked: string[] = [];
    const port = await listen(t, (request, response) => {
      asked.push(request.url ?? '');
      const to = request.url === '/a/out' ? '/secret.wav' : '/a/inside.wav';
      response.writeHead(status, { Location: to }).end();
    });
    const message = `Expected 200 from the address, got ${status}`;
    for (const path of ['out', 'in']) await t.throwsAsync(fetchFrom(port, path), { message });
    t.deepEqual(asked, ['/a/out', '/a/in']);
  });
}

test('a refused URL is not fetched', async (t) => {
  const asked: string[] = [];
  const port = await listen(t, (request, response) => {
    asked.push(request.url ?? '');
    response.end('sound');
  });
  for (const path of words`..%2fsecret ..;/secret ..%5csecret ..%252fsecret`)
    await t.throwsAsync(fetchFrom(port, path), { message: /^Expected addresses/ }, path);
  t.is((await fetchFrom(port, 'x/../b%20c.wav?d=e%2Ff')).audio.length, 5);
  t.deepEqual(asked, ['/a/b%20c.wav?d=e%2Ff']);
});

test.serial('a URL is decoded once, however many prefixes there are', (t) => {
  const decode = globalThis.decodeURIComponent;
  let decoded = 0;
  globalThis.decodeURIComponent = (text) => {
    decoded++;
    return decode(text);
  };
  t.teardown(() => {
    globalThis.decodeURIComponent = decode;
  });
  const others = ['w', 'x', 'y', 'z'].map((host) => `https://${host}.example/a/`);
  const decodesWith = (urlPrefixes: readonly string[]) => {
    isTaken(`${base}b.wav`, urlPrefixes);
    decoded = 0;
    t.true(isTaken(`${base}b/c.wav`, urlPrefixes));
    return decoded;
  };
  t.is(decodesWith([base]), 3);
  t.is(decodesWith([...others, base]), 3);
});

// Lists of addresses, as JSON: what is refused, in a few words however much was sent.

const shared = share(test, startJobStack);

const json = 'application/json';

type Case = {
  readonly body: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  /** The code of a 400; the types of the items otherwise. */
  readonly errors: string | readonly string[];
};

const chunked = { 'Transfer-Encoding': 'chunked' };
const manyKeys = Array.from({ length: 20_000 }, (_, index) => `"k${index}":1`).join(',');
const filler = (bytes: number) => JSON.stringify({ urls: ['x'.repeat(bytes)] });
const whole = 'value_error.urls';

const bad = { status: 400, errors: 'bad_request' };
const tooLarge = { status: 413, errors: ['value_error.audio.too_large'] };
const wrong = { status: 422, errors: [whole] };

const cases: Readonly<Record<string, Case>> = {
  'no JSON': { body: '{"urls": [', ...bad },
  'an empty body': { body: '', headers: chunked, ...bad },
  'a list alone': { body: '[]', ...bad },
  'a text alone': { body: '"x"', ...bad },
  'a prototype': { body: '{"__proto__": {"urls": []}}', ...bad },
  'half a character': {
    body: Buffer.from('{"urls": ["\xe2\x82', 'latin1'),
    ...bad,
  },
  'no UTF-8': { body: Buffer.from('{"urls": ["\xff"]}', 'latin1'), ...bad },
  'a coding': { body: '{}', headers: { 'Content-Encoding': 'gzip' }, status: 415, errors: 'content_coding' },
  'another type': {
    body: '{}',
    headers: { 'Content-Type': 'text/json' },
    status: 422,
    errors: ['value_error.missing'],
  },
  'just under the limit': { body: filler(2 ** 18 - 20), ...wrong },
  'over the limit': { body: filler(2 ** 18), ...tooLarge },
  'over the limit, in chunks': {
    body: filler(2 ** 18),
    headers: chunked,
    ...tooLarge,
  },
  'thousands of fields': { body: `{${manyKeys}}`, status: 422, errors: ['value_error.unknown'] },
  'thousands of entries': { body: `{"urls":[${'1,'.repeat(100_000)}1]}`, ...wrong },
  'more faults than anybody reads': {
    body: `{"urls":[${'1,'.repeat(900)}1]}`,
    status: 422,
    errors: Array(16).fill(whole),
  },
  nesting: { body: `{"urls":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, ...wrong },
};

const errorsOf = ({ body }: Reply): unknown => {
  const { code, detail } = JSON.parse(body);
  return code ?? detail.map(({ type }: { readonly type: string }) => type);
};

test.serial('an unknown field is named together with the known ones', async (t) => {
  const { server } = shared();
  const msgOf = async (path: string, body: object): Promise<unknown> => {
    const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': json };
    const reply = await call(server.port, { method: 'POST', path, headers, body: JSON.stringify(body) });
    return JSON.parse(reply.body).detail[0].msg;
  };
  t.is(
    await msgOf('/v1/jobs', { urls: ['x'], chanel: 1, '<b>': 2 }),
    'Expected only the fields urls, channel, track, channels, speakers, receipt, callback, metadata in `body`, got `chanel`, another',
  );
  t.is(
    await msgOf('/v1/stream/tokens', { scope: [] }),
    'Expected only the fields scopes in `body`, got `scope`',
  );
});

test.serial('an invalid list of URLs is refused with a short response', async (t) => {
  const { server } = shared();
  for (const [name, { body, headers = {}, status, errors }] of Object.entries(cases)) {
    const reply = await call(server.port, {
      method: 'POST',
      path: '/v1/jobs',
      headers: { Authorization: `Bearer ${server.token}`, 'Content-Type': json, ...headers },
      body,
    });
    t.is(reply.status, status, `${name}: ${reply.body.slice(0, 200)}`);
    t.deepEqual(errorsOf(reply), errors, name);
    t.true(reply.body.length < 3000, `${name}: ${reply.body.length} characters`);
  }
});
