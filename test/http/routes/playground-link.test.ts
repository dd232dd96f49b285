/** The exchange of a one-time code for a token. */
import { request } from 'node:http';
import { networkInterfaces } from 'node:os';
import test from 'ava';
import { createPlaygroundCodes } from '../../../src/service/auth/playground-codes.ts';
import { isLoopback } from '../../../src/service/network.ts';
import { type AccountApp, startAccountApp, statusWith } from '../../support/account.ts';
import { call } from '../../support/http.ts';

const path = '/account/api/playground-link';
const createCode = ({ database, tokens }: AccountApp) => createPlaygroundCodes({ database, tokens }).create();

async function redeem({ app }: AccountApp, code: unknown, headers: Readonly<Record<string, string>> = {}) {
  const origin = { Origin: `http://127.0.0.1:${app.port}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ code });
  const reply = await call(app.port, { method: 'POST', path, headers: { ...origin, ...headers }, body });
  return { ...reply, json: JSON.parse(reply.body) };
}

test('a code becomes a token once, without a cookie, a session and an account', async (t) => {
  const service = await startAccountApp(t);
  const { app, database } = service;
  const code = await createCode(service);
  const { status, headers, json } = await redeem(service, code);
  t.is(status, 200);
  t.is(headers['cache-control'], 'no-store');
  t.is(headers['set-cookie'], undefined);
  t.deepEqual(Object.keys(json), ['token', 'expires_at']);
  t.is(await statusWith(app, json.token), 200);
  const again = await redeem(service, code);
  t.deepEqual([again.status, again.json.code], [401, 'unauthenticated']);
  t.regex(again.json.detail, /^Expected an unused code of the last 10 minutes for `code`, got another/);
  for (const table of ['user', 'session'] as const) {
    t.deepEqual(await database.selectFrom(table).selectAll().execute(), [], table);
  }
  t.false(app.log.join('').includes(code));
  t.false(app.log.join('').includes(json.token));
});

test('proxied requests and other origins are refused, and leave the code unused', async (t) => {
  const service = await startAccountApp(t);
  const code = await createCode(service);
  const refused = [
    { Forwarded: 'for=127.0.0.1' },
    { Via: '1.1 proxy' },
    { 'X-Forwarded-For': '127.0.0.1' },
    { 'X-Forwarded-Host': 'localhost' },
    { 'X-Forwarded-Proto': 'http' },
    { 'X-Real-IP': '127.0.0.1' },
    { Origin: 'https://evil.example' },
  ];
  for (const headers of refused) {
    const { status, json } = await redeem(service, code, headers as Record<string, string>);
    t.deepEqual([status, json.code], [403, 'forbidden'], Object.keys(headers)[0]);
  }
  t.is((await redeem(service, code, { Host: 'rebound.example' })).status, 421);
  t.is((await redeem(service, code)).status, 200);
});

test('a connection through another address of the machine is refused', async (t) => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find((one) => one?.internal === false && one.family === 'IPv4')?.address;
  if (outside === undefined) return t.pass('no other address');
  const service = await startAccountApp(t, { env: { UNDERTONE_HOST: '0.0.0.0' } });
  const { port } = service.app;
  const code = await createCode(service);
  const headers = { Origin: `http://${outside}:${port}`, 'Content-Type': 'application/json' };
  const status = await new Promise((resolve, reject) => {
    const sent = request({ port, host: outside, method: 'POST', path, headers, agent: false });
    sent.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
    sent.end(JSON.stringify({ code }));
  });
  t.is(status, 403);
  t.is((await redeem(service, code)).status, 200);
});

test('a missing and a long code are a 422', async (t) => {
  const service = await startAccountApp(t);
  for (const code of [undefined, 1, 'x'.repeat(129)]) {
    const { status, json } = await redeem(service, code);
    t.is(status, 422);
    t.deepEqual(json.detail[0].loc, ['body', 'code']);
  }
});

test('loopback addresses', (t) => {
  for (const host of ['127.0.0.1', '127.9.9.9', '::1', '::ffff:127.0.0.1', 'localhost', 'LOCALHOST'])
    t.true(isLoopback(host), host);
  for (const host of ['', '0.0.0.0', '::', '10.0.0.1', '128.0.0.1', '::ffff:10.0.0.1', 'localhost.example'])
    t.false(isLoopback(host), host);
});
