/** Many uploads of one account that send nothing, or hardly anything: everybody else is served as ever. */
import test from 'ava';
import { contentType, multipart, toneFile } from '../../benchmarks/upload-body.ts';
import { call, type Wire, wire } from '../support/http.ts';
import { type JobStack, startJobStack } from '../support/jobs.ts';
import { makeToken } from '../support/server.ts';
import { until } from '../support/wait.ts';

const idleUploads = 128;
const everyScope = 'analyze:emotion,analyze:cognitive';
const form = multipart([{ name: 'audio', bytes: toneFile(1) }]);

/** `first`: what each of them sends after its headers. */
async function openIdle({ server }: JobStack, path: string, first: string): Promise<Wire[]> {
  const head = [
    `POST ${path} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${server.token}`,
    `Content-Type: ${contentType}`,
    'Content-Length: 1000000',
  ].join('\r\n');
  const clients = await Promise.all(Array.from({ length: idleUploads }, () => wire(server.port)));
  for (const { socket } of clients) socket.write(`${head}\r\n\r\n${first}`);
  return clients;
}

async function heldBytes({ server }: JobStack): Promise<number> {
  const { body } = await call(server.port, { path: '/metrics' });
  return Number(/^undertone_held_bytes (\d+)$/m.exec(body)?.[1]);
}

async function statuses({ server }: JobStack, token: string, email: string) {
  const { port, url } = server;
  const upload = (path: string) =>
    call(port, {
      method: 'POST',
      path,
      headers: { 'Content-Type': contentType, Authorization: `Bearer ${token}` },
      body: form,
    });
  const ask = (path: string, body: object) =>
    call(port, {
      method: 'POST',
      path: `/account/api/${path}`,
      headers: { 'Content-Type': 'application/json', Origin: url },
      body: JSON.stringify(body),
    });
  const credentials = { email, password: 'correct horse battery' };
  return {
    analysis: (await upload('/v1/analyze')).status,
    job: (await upload('/v1/jobs')).status,
    logIn: (await ask('log-in', credentials)).status,
    ready: (await call(port, { path: '/ready' })).status,
  };
}

for (const [name, path, first] of [
  ['uploads of jobs without a byte', '/v1/jobs', ''],
  ['uploads of jobs with one byte', '/v1/jobs', '-'],
  ['analyses without a byte', '/v1/analyze', ''],
] as const) {
  test.serial(`${idleUploads} idle ${name} of one account hold up nobody else`, async (t) => {
    // Those that sent a byte hold a place each, the two jobs below one as well, and all of them leave half free.
    const places = first === '' ? 4 : 2 * (idleUploads + 2);
    const place = await startJobStack(t, { UNDERTONE_JOB_QUEUE: String(places) });
    const { server } = place;
    const other = makeToken(server, everyScope);
    const email = 'somebody@example.org';
    const signUp = await call(server.port, {
      method: 'POST',
      path: '/account/api/sign-up',
      headers: { 'Content-Type': 'application/json', Origin: server.url },
      body: JSON.stringify({ email, password: 'correct horse battery' }),
    });
    t.is(signUp.status, 200, signUp.body);
    const alone = await statuses(place, other, email);
    const idle = await openIdle(place, path, first);
    const bytes = idleUploads * first.length;
    await until(async () => (await heldBytes(place)) === bytes);
    t.deepEqual(await statuses(place, other, email), alone);
    for (const { socket } of idle) socket.destroy();
  });
}

const json = 'application/json';

/** None of them ends sooner by another limit: analyses and JSON may take 30 s, uploads of jobs 600. */
const paths: Readonly<Record<string, readonly [path: string, type: string]>> = {
  'an analysis': ['/v1/analyze', contentType],
  'an upload of a job': ['/v1/jobs', contentType],
  'a list of addresses': ['/v1/jobs', json],
  'a log-in': ['/account/api/log-in', json],
};

test.serial('a body that hardly comes is ended by the minimum rate, whatever it is of', async (t) => {
  const { server } = await startJobStack(t);
  const ended = async (name: string, [path, type]: readonly [string, string], first: string) => {
    const client = await wire(server.port);
    const lines = [`POST ${path} HTTP/1.1`, `Host: 127.0.0.1:${server.port}`, `Origin: ${server.url}`];
    lines.push(`Authorization: Bearer ${server.token}`, `Content-Type: ${type}`, 'Content-Length: 9000');
    client.socket.write(`${lines.join('\r\n')}\r\n\r\n${first}`);
    const answer = await client.ended();
    client.socket.destroy();
    t.regex(answer, /^HTTP\/1\.1 408 [\s\S]*Expected at least 10240 bytes of the body every 10 s/, name);
  };
  const all = Object.entries(paths).flatMap(([name, request]) =>
    ['', '-'].map((first) => ended(`${name}, ${first.length} bytes`, request, first)),
  );
  await Promise.all(all);
});
