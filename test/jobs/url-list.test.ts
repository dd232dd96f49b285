/** Lists of addresses, as JSON: what is refused, in a few words however much was sent. */
import test from 'ava';
import { call, type Reply } from '../support/http.ts';
import { startJobStack } from '../support/jobs.ts';
import { share } from '../support/share.ts';

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

const cases: Readonly<Record<string, Case>> = {
  'no JSON': { body: '{"urls": [', status: 400, errors: 'bad_request' },
  'an empty body': { body: '', headers: chunked, status: 400, errors: 'bad_request' },
  'a list alone': { body: '[]', status: 400, errors: 'bad_request' },
  'a text alone': { body: '"x"', status: 400, errors: 'bad_request' },
  'a prototype': { body: '{"__proto__": {"urls": []}}', status: 400, errors: 'bad_request' },
  'half a character': {
    body: Buffer.from('{"urls": ["\xe2\x82', 'latin1'),
    status: 400,
    errors: 'bad_request',
  },
  'no UTF-8': { body: Buffer.from('{"urls": ["\xff"]}', 'latin1'), status: 400, errors: 'bad_request' },
  'a coding': { body: '{}', headers: { 'Content-Encoding': 'gzip' }, status: 415, errors: 'content_coding' },
  'another type': {
    body: '{}',
    headers: { 'Content-Type': 'text/json' },
    status: 422,
    errors: ['value_error.missing'],
  },
  'just under the limit': { body: filler(2 ** 18 - 20), status: 422, errors: [whole] },
  'over the limit': { body: filler(2 ** 18), status: 413, errors: ['value_error.audio.too_large'] },
  'over the limit, in chunks': {
    body: filler(2 ** 18),
    headers: chunked,
    status: 413,
    errors: ['value_error.audio.too_large'],
  },
  'thousands of fields': { body: `{${manyKeys}}`, status: 422, errors: ['value_error.unknown'] },
  'thousands of entries': { body: `{"urls":[${'1,'.repeat(100_000)}1]}`, status: 422, errors: [whole] },
  'more faults than anybody reads': {
    body: `{"urls":[${'1,'.repeat(900)}1]}`,
    status: 422,
    errors: Array(16).fill(whole),
  },
  nesting: { body: `{"urls":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, status: 422, errors: [whole] },
};

const errorsOf = ({ body }: Reply): unknown => {
  const { code, detail } = JSON.parse(body);
  return code ?? detail.map(({ type }: { readonly type: string }) => type);
};

test.serial('an unknown field is named beside the known ones', async (t) => {
  const { server } = shared();
  const msgOf = async (path: string, body: object): Promise<unknown> => {
    const headers = { Authorization: `Bearer ${server.token}`, 'Content-Type': json };
    const reply = await call(server.port, { method: 'POST', path, headers, body: JSON.stringify(body) });
    return JSON.parse(reply.body).detail[0].msg;
  };
  t.is(
    await msgOf('/v1/jobs', { urls: ['x'], chanel: 1, '<b>': 2 }),
    'Expected only the fields urls, channel, channels, speakers, receipt, callback, metadata in `body`, got `chanel`, another',
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
