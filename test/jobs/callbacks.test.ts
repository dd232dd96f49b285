/** What comes from elsewhere and goes elsewhere: addresses of recordings, signed callbacks, and what neither may reach. */
import { createHmac } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import { createCipher } from '../../src/service/jobs/cipher.ts';
import { sendRequest } from '../../src/service/jobs/outgoing-request.ts';
import { decryptMetadata, encryptMetadata } from '../../src/service/jobs/payload.ts';
import { AddressError, checkedLookup, isPublic } from '../../src/service/jobs/public-addresses.ts';
import {
  checkAudioUrl,
  checkCallbackUrl,
  fetchAudio,
  RetryableFetchError,
} from '../../src/service/jobs/remote-audio.ts';
import { type JobReply, jobOf, startJobStack } from '../support/jobs.ts';
import { listen } from '../support/listening.ts';
import { until } from '../support/wait.ts';
import { words } from '../support/words.ts';

const recording = wavFile(syntheticSignal(1, 4));

const unstopped = new AbortController().signal;
const rules = {
  urlPrefixes: ['https://bucket.example/a/'],
  privateHosts: [],
  maxBytes: 1000,
  uploadSeconds: 5,
};

test('addresses that are not public are refused in every notation', (t) => {
  const hosts = words`
    127.0.0.1 127.1 2130706433 0x7f000001 0177.0.0.1 0.0.0.0 10.1.2.3 172.16.0.1 172.31.255.255 192.168.1.1
    100.64.0.1 169.254.169.254 224.0.0.1 255.255.255.255 [::1] [::] [::ffff:127.0.0.1] [::ffff:a00:1]
    [64:ff9b::7f00:1] [fe80::1] [fc00::1] [fd12::1] [2002:7f00:1::] [2001:db8::1] localhost a.localhost
    LOCALHOST.
  `;
  for (const host of hosts) {
    t.regex(checkCallbackUrl(`https://${host}/hook`, rules) ?? '', /UNDERTONE_JOB_PRIVATE_HOSTS/, host);
    const prefixed = { ...rules, urlPrefixes: [new URL(`https://${host}/`).href] };
    t.regex(checkAudioUrl(`https://${host}/x.wav`, prefixed) ?? '', /UNDERTONE_JOB_PRIVATE_HOSTS/, host);
  }
  for (const host of ['8.8.8.8', '172.32.0.1', '[2606:4700::1111]', 'hooks.example.org']) {
    t.is(checkCallbackUrl(`https://${host}/hook`, rules), null, host);
  }
  t.true(isPublic('93.184.216.34'));
  t.false(isPublic('not an address'));
  t.truthy(checkCallbackUrl('http://hooks.example.org/', rules));
  t.truthy(checkCallbackUrl('https://user:pass@hooks.example.org/', rules));
  t.is(checkCallbackUrl('http://10.0.0.7/', { privateHosts: ['10.0.0.7'] }), null);
});

test('a name that resolves to a private address is not connected to', async (t) => {
  const lookup = (name: string, privateHosts: readonly string[]) =>
    new Promise<unknown>((done) => {
      checkedLookup(privateHosts)(name, {}, (error, address) => done(error ?? address));
    });
  t.true((await lookup('localhost', [])) instanceof AddressError);
  t.regex(String(await lookup('localhost', ['localhost'])), /^(127\.0\.0\.1|::1)$/);
  const port = await listen(t, (_, response) => response.end('reached'));
  const url = `http://127.0.0.1:${port}/`;
  const named = url.replace('127.0.0.1', 'localhost');
  const wanted = { method: 'GET', url: named, seconds: 300, maxBytes: 100 } as const;
  await t.throwsAsync(sendRequest({ ...wanted, privateHosts: [] }), { instanceOf: AddressError });
  t.is((await sendRequest({ ...wanted, privateHosts: ['localhost'] })).body.toString(), 'reached');
  await t.throwsAsync(sendRequest({ ...wanted, url, privateHosts: [] }), { instanceOf: AddressError });
});

test('no message of a failed request names its host', async (t) => {
  const here = { method: 'GET', seconds: 300, maxBytes: 100, privateHosts: ['127.0.0.1'] } as const;
  for (const [url, reason] of [
    ['https://secret-clinic.invalid/a.wav', /no address of the host|no answer of the name server/],
    ['http://127.0.0.1:9/a.wav', /a refused connection/],
    ['https://secret-clinic.localhost/a.wav', /a private one/],
  ] as const) {
    const error = await t.throwsAsync(sendRequest({ ...here, url }), { message: reason });
    t.notRegex(String(error?.stack), /secret-clinic|127\.0\.0\.1/);
  }
});

test('a fetch stops at its limits of bytes and seconds', async (t) => {
  const port = await listen(t, (request, response) => {
    if (request.url === '/busy') response.writeHead(503).end();
    else if (request.url === '/large') response.end(Buffer.alloc(5000));
    else if (request.url === '/endless') response.write(Buffer.alloc(2000));
    else if (request.url !== '/silent') response.end('sound');
  });
  const url = `http://127.0.0.1:${port}/`;
  const here = { ...rules, urlPrefixes: [url], privateHosts: ['127.0.0.1'], uploadSeconds: 300 };
  const { audio: sound } = await fetchAudio(`${url}ok`, here, unstopped);
  t.is(Buffer.from(sound).toString(), 'sound');
  t.is(sound.buffer.byteLength, sound.length);
  const typeOf = (path: string, uploadSeconds = here.uploadSeconds) =>
    fetchAudio(url + path, { ...here, uploadSeconds }, unstopped).then(
      () => 'fetched',
      (error: { problems?: { reason: string }[] }) => error.problems?.[0]?.reason ?? error.constructor.name,
    );
  t.is(await typeOf('large'), 'audio.too_large');
  t.is(await typeOf('endless'), 'audio.too_large');
  t.is(await typeOf('busy'), RetryableFetchError.name);
  t.is(await typeOf('silent', 1), RetryableFetchError.name);
});

test('a response that stops, or never comes, is late, and a cancelled request is cancelled', async (t) => {
  const port = await listen(t, (request, response) => {
    if (request.url === '/stops') response.write('so');
  });
  const url = `http://127.0.0.1:${port}/`;
  const here = { method: 'GET', maxBytes: 100, privateHosts: ['127.0.0.1'] } as const;
  for (const path of ['silent', 'stops']) {
    const late = { ...here, url: url + path, seconds: 0.3 };
    await t.throwsAsync(sendRequest(late), { message: 'Expected an answer, got no answer in time' });
    const cancelled = { ...here, url: url + path, seconds: 300, signal: AbortSignal.abort() };
    await t.throwsAsync(sendRequest(cancelled), { message: 'Expected an answer, got a cancelled request' });
  }
});

test('ciphertext decrypts only with the same secret and at the same place', (t) => {
  const cipher = createCipher('s'.repeat(32));
  const sealed = cipher.encrypt(recording, 'job/audio/0');
  t.is(sealed.indexOf('RIFF'), -1);
  t.deepEqual(cipher.decrypt(sealed, 'job/audio/0'), recording);
  t.notDeepEqual(cipher.encrypt(recording, 'job/audio/0'), sealed);
  t.throws(() => cipher.decrypt(sealed, 'job/audio/1'));
  t.throws(() => createCipher('t'.repeat(32)).decrypt(sealed, 'job/audio/0'));
  const changed = Buffer.from(sealed);
  changed[100] = (changed[100] ?? 0) ^ 1;
  t.throws(() => cipher.decrypt(changed, 'job/audio/0'));
  t.not(createCipher('t'.repeat(32)).fingerprint, cipher.fingerprint);
  const metadata = encryptMetadata({ order: '7' }, 'job', cipher);
  t.deepEqual(decryptMetadata(metadata, 'job', cipher), { order: '7' });
  t.deepEqual(decryptMetadata(metadata, 'job', createCipher('t'.repeat(32))), {});
});

type Delivery = {
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** Seconds since 1970. */
  readonly at: number;
};

test.serial(
  'a list of URLs is fetched and analysed, and each result is called back, signed, until it is delivered',
  async (t) => {
    const deliveries: Delivery[] = [];
    const port = await listen(t, async (request, response) => {
      if (request.method === 'GET') {
        if (request.url === '/a.wav') response.end(recording);
        else response.writeHead(404).end();
        return;
      }
      const at = Date.now() / 1000;
      deliveries.push({ headers: request.headers, body: await text(request), at });
      // No body is read, so none is too long.
      response.writeHead(deliveries.length < 3 ? 500 : 200).end('x'.repeat(1_000_000));
    });
    const url = `http://127.0.0.1:${port}/`;
    const place = await startJobStack(t, {
      UNDERTONE_JOB_URL_PREFIXES: url,
      UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
      UNDERTONE_JOB_QUEUE: '7',
    });
    const many = await place.list({ urls: Array(4).fill(`${url}a.wav`) });
    t.is(many.status, 503, many.body);
    t.is(JSON.parse(many.body).code, 'overloaded');
    const elsewhere = await place.list({ urls: ['https://example.org/a.wav'] });
    t.is(elsewhere.status, 422, elsewhere.body);
    t.is(JSON.parse(elsewhere.body).detail[0].type, 'value_error.urls');
    const key = { 'Idempotency-Key': 'list-1' };
    const wanted = {
      urls: [`${url}a.wav`, `${url}missing.wav?signature=secret-of-the-bucket`],
      callback: `${url}hook`,
    };
    const begun: { jobs: JobReply[]; callback_secret: string } = JSON.parse(
      (await place.list(wanted, key)).body,
    );
    const again: typeof begun = JSON.parse((await place.list(wanted, key)).body);
    t.deepEqual(
      again.jobs.map(({ id }) => id),
      begun.jobs.map(({ id }) => id),
    );
    const kept = await place.redis.dump();
    for (const plain of ['secret-of-the-bucket', '/hook', 'a.wav']) t.is(kept.indexOf(plain), -1, plain);
    await place.startWorker();
    const [first, second] = begun.jobs as [JobReply, JobReply];
    t.is((await place.ended(first.id)).status, 'done');
    const missing = await place.ended(second.id);
    t.like(missing, { status: 'failed', error: { detail: [{ type: 'value_error.url.unreachable' }] } });
    await until(() => deliveries.length === 4);
    for (const { headers, body, at } of deliveries) {
      const id = String(headers['webhook-id']);
      const timestamp = String(headers['webhook-timestamp']);
      const secret = Buffer.from(begun.callback_secret.slice('whsec_'.length), 'base64');
      const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64');
      t.is(headers['webhook-signature'], `v1,${signature}`);
      t.true(Math.abs(at - Number(timestamp)) < 100);
      const job = jobOf(await place.show(id));
      const type = `job.${job.status}`;
      t.deepEqual(JSON.parse(body), { ...job, type, timestamp: job.finished_at });
    }
    const called = new Set(deliveries.map(({ headers }) => headers['webhook-id']));
    t.deepEqual([...called].toSorted(), [first.id, second.id].toSorted());
  },
);
