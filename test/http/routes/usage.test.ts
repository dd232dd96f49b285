import test from 'ava';
import { toneFile } from '../../../benchmarks/upload-body.ts';
import type { AccountUsageJson } from '../../../src/service/api/schemas.ts';
import { type Browser, testAccounts } from '../../support/account.ts';
import { type App, analysis } from '../../support/app.ts';
import { call } from '../../support/http.ts';
import { jobOf, startJobStack } from '../../support/jobs.ts';
import { startServer } from '../../support/server.ts';
import { connectStream } from '../../support/stream-client.ts';

const scopes = ['analyze:emotion', 'analyze:cognitive'];

async function usageOf(port: number, token: string) {
  const reply = await call(port, { path: '/v1/usage', headers: { Authorization: `Bearer ${token}` } });
  return { status: reply.status, json: JSON.parse(reply.body) };
}

const purpose = 'captions';

async function createToken({ ask }: Browser, name = 'ci'): Promise<string> {
  return String((await ask('tokens', { name, scopes, purpose })).json.token);
}

const analyze = ({ port }: App, token: string, task: object = { do: 'echo' }) =>
  call(port, analysis(task as Parameters<typeof analysis>[0], token));

/** Audio of an analysis by test/support/thread.ts. */
const audioSeconds = 1.5;

testAccounts('a token reads its own usage alone', async (t, { app, browser }) => {
  const ada = browser();
  await ada.signUp('ada@home.example');
  const token = await createToken(ada);
  const other = await createToken(ada, 'other');
  await analyze(app, token);
  await analyze(app, token, { do: 'refuse' });
  await analyze(app, other);
  const { status, json } = await usageOf(app.port, token);
  t.is(status, 200);
  t.like(json.token, { name: 'ci', purpose });
  t.like(json.days, [{ requests: 2, errors: 1, audio_s: audioSeconds }]);
  t.is((await usageOf(app.port, other)).json.days[0].requests, 1);
  t.is((await usageOf(app.port, 'ut_unknown')).status, 401);
});

testAccounts('an account sees its tokens, an administrator all', async (t, { app, browser, tokens }) => {
  const [ada, bob] = [browser(), browser()];
  await ada.signUp('ada@home.example');
  await bob.signUp('bob@home.example');
  await analyze(app, await createToken(bob));
  const playground = String((await bob.ask('playground-token', {})).json.token);
  await analyze(app, playground);
  await analyze(app, playground);
  const { token } = await tokens.create({
    name: 'deploy',
    scopes: ['analyze:emotion'],
    expiresAt: null,
    purpose: null,
  });
  await analyze(app, token);
  const listed = async ({ ask }: Browser) =>
    ((await ask('usage')).json as unknown as AccountUsageJson).tokens
      .map(({ name, purpose, email, days }) => [name, purpose, email, days[0]?.requests])
      .sort();
  const own = [
    ['ci', purpose, 'bob@home.example', 1],
    ['playground', null, 'bob@home.example', 2],
  ];
  t.deepEqual(await listed(bob), own);
  t.deepEqual(await listed(ada), [own[0], ['deploy', null, null, 1], own[1]]);
  t.is((await browser().ask('usage')).status, 401);
});

test.serial('the audio of a live session counts', async (t) => {
  const server = await startServer(t);
  const session = await connectStream(server.port, { token: server.token });
  session.send({ type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 });
  session.socket.send(Buffer.alloc(64_000));
  session.send({ type: 'session.end' });
  await session.closed;
  const { json } = await usageOf(server.port, server.token);
  t.like(json, { token: { id: 'static', name: 'UNDERTONE_TOKEN', purpose: null } });
  t.like(json.days, [{ requests: 1, errors: 0, audio_s: 2 }]);
});

test.serial('audio of a job counts for its token once it is analysed', async (t) => {
  const place = await startJobStack(t);
  const bytes = toneFile(1.25);
  const job = jobOf(await place.upload([{ name: 'audio', bytes }]));
  const worker = await place.startWorker();
  await place.ended(job.id);
  await worker.stop('SIGTERM');
  const { json } = await usageOf(place.server.port, place.server.token);
  t.is(json.days[0].audio_s, 1.25);
});
