/** Clients that take their time, leave or break off, where jobs make long uploads possible. */
import test from 'ava';
import { contentType } from '../../benchmarks/upload-body.ts';
import { heldBytes, wire } from '../support/http.ts';
import { type JobStack, startJobStack } from '../support/jobs.ts';
import { share } from '../support/share.ts';
import { until } from '../support/wait.ts';

const json = 'application/json';

function head({ server }: JobStack, target: string, type: string, length: number): string {
  const lines = [
    `${target} HTTP/1.1`,
    `Host: 127.0.0.1:${server.port}`,
    `Origin: ${server.url}`,
    `Authorization: Bearer ${server.token}`,
    `Content-Type: ${type}`,
    `Content-Length: ${length}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n`;
}

/** Each with the status that its path gives to a body that hardly comes. */
const slow: Readonly<Record<string, readonly [type: string, status: number]>> = {
  'POST /v1/analyze': [contentType, 408],
  'POST /v1/jobs': [json, 408],
  'POST /account/api/sign-up': [json, 408],
  'POST /account/api/log-out': [json, 200],
  'POST /nothing': [json, 404],
  'PUT /v1/jobs': [json, 405],
  'GET /v1/jobs/job_x': [json, 404],
  'DELETE /v1/jobs/job_x': [json, 404],
  'GET /health': [json, 200],
  'GET /': [json, 200],
};

test('a slow body ends its connection soon on every path, unless it is of a job', async (t) => {
  const place = await startJobStack(t, { UNDERTONE_DEADLINE_S: '2' });
  const trickle = async (target: string, type: string) => {
    const client = await wire(place.server.port);
    t.teardown(() => client.socket.destroy());
    client.socket.write(head(place, target, type, 1000));
    const feed = setInterval(() => client.socket.write('x'), 100);
    t.teardown(() => clearInterval(feed));
    return client;
  };
  const upload = await trickle('POST /v1/jobs', contentType);
  await Promise.all(
    Object.entries(slow).map(async ([target, [type, status]]) => {
      const client = await trickle(target, type);
      const closed = new Promise((done) => client.socket.once('close', done));
      t.regex(await client.until(/\r\n\r\n/), new RegExp(`^HTTP/1\\.1 ${status} `), target);
      await closed;
    }),
  );
  t.is(upload.text(), '');
  t.false(upload.socket.destroyed);
});

/** None of them ends sooner by another limit: analyses and JSON may take 30 s, uploads of jobs 600. */
const guarded: readonly (readonly [target: string, type: string])[] = [
  ['POST /v1/analyze', contentType],
  ['POST /v1/jobs', contentType],
  ['POST /v1/jobs', json],
  ['POST /account/api/log-in', json],
];

const stack = share(test, (t) =>
  startJobStack(t, { UNDERTONE_BUFFER_BYTES: '300000', UNDERTONE_MAX_UPLOAD_BYTES: '225000' }),
);

test.serial('lists of URLs count as reserved bytes until the response', async (t) => {
  const place = stack();
  const first = await wire(place.server.port);
  first.socket.write(head(place, 'POST /v1/jobs', json, 250_000));
  first.socket.write('x'.repeat(200_000));
  await until(async () => (await heldBytes(place.server.port)) >= 200_000);
  const second = await place.list({ urls: ['x'.repeat(150_000)] });
  t.is(second.status, 503, second.body);
  t.is(JSON.parse(second.body).code, 'overloaded');
  first.socket.destroy();
  await until(async () => (await heldBytes(place.server.port)) === 0);
  t.is((await place.list({ urls: ['x'.repeat(150_000)] })).status, 422);
  await until(async () => (await heldBytes(place.server.port)) === 0);
  t.pass();
});

test('every body has a minimum rate, from its first byte on', async (t) => {
  const place = stack();
  const send = async ([target, type]: readonly [string, string], first: string) => {
    const client = await wire(place.server.port);
    client.socket.write(head(place, target, type, 9000) + first);
    const answer = await client.ended();
    client.socket.destroy();
    t.regex(answer, /^HTTP\/1\.1 408 [\s\S]*Expected at least 10240 bytes of the body every 10 s/, target);
  };
  await Promise.all(guarded.flatMap((request) => ['', '-'].map((first) => send(request, first))));
});
