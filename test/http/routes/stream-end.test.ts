/** Live sessions whose token, account or log-in ends. */
import test from 'ava';
import { startAccountApp } from '../../support/account.ts';
import { password } from '../../support/browser.ts';
import { connectStream, issueStreamToken } from '../../support/stream-client.ts';

const config = { type: 'session.configure', encoding: 's16le', sample_rate_hz: 16_000, channels: 1 } as const;

test('revoking a token ends its sessions, and those of the tokens that it was issued for', async (t) => {
  const { app, tokens: all } = await startAccountApp(t);
  const request = {
    scopes: ['analyze:emotion', 'analyze:cognitive'],
    expiresAt: null,
    purpose: null,
  } as const;
  const revoked = await all.create({ ...request, name: 'revoked' });
  const kept = await all.create({ ...request, name: 'kept' });
  const { token } = await issueStreamToken(app.port, revoked.token);
  const other = await connectStream(app.port, { token: kept.token });
  const sessions = [
    await connectStream(app.port, { token: revoked.token }),
    await connectStream(app.port, { protocols: ['undertone.v1', token] }),
  ];
  await all.revoke('revoked');
  for (const session of sessions) {
    t.deepEqual(await session.closed, { code: 1008, reason: 'policy' });
    t.like(session.messages('error')[0], { status: 401, code: 'unauthenticated' });
  }
  other.send(config);
  await other.first('session.ready');
});

test('an expiry ends the sessions of the token and those that it was issued for, but none of the pages', async (t) => {
  const { app, browser, database, tokens: all } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp('ada@example.com');
  const expiresAt = new Date(Date.now() + 3_600_000);
  const own = await all.create({ name: 'own', scopes: ['analyze:emotion'], expiresAt, purpose: null });
  const ofPages = String((await ada.ask('playground-token', {})).json.token);
  const [page, ...sessions] = [
    await connectStream(app.port, { token: ofPages }),
    await connectStream(app.port, { token: own.token }),
    await connectStream(app.port, {
      protocols: ['undertone.v1', (await issueStreamToken(app.port, own.token)).token],
    }),
  ];
  await database
    .updateTable('tokens')
    .set({ expires_at: Date.now() - 1 })
    .execute();
  for (const session of sessions) {
    t.deepEqual(await session.closed, { code: 1008, reason: 'policy' });
    t.deepEqual(session.messages('error'), []);
  }
  await app.streams.sessions.refresh();
  page?.send({ ...config, signals: ['emotion'] });
  await page?.first('session.ready');
});

test('deleting an account ends its sessions', async (t) => {
  const { app, browser, tokens: all } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp('ada@example.com');
  const created = await ada.ask('tokens', { name: 'one', scopes: ['analyze:emotion'] });
  t.is((await all.list()).length, 1);
  const session = await connectStream(app.port, { token: String(created.json.token) });
  t.is((await ada.ask('remove', { password })).status, 200);
  t.is((await session.closed).code, 1008);
});

test('logging out ends the sessions of the playground', async (t) => {
  const { app, browser } = await startAccountApp(t);
  const ada = browser();
  await ada.signUp('ada@example.com');
  const token = String((await ada.ask('playground-token', {})).json.token);
  const direct = await connectStream(app.port, { token });
  const issued = await issueStreamToken(app.port, token);
  const byPage = await connectStream(app.port, { protocols: ['undertone.v1', issued.token] });
  t.is((await ada.ask('log-out', {})).status, 200);
  t.deepEqual([(await direct.closed).code, (await byPage.closed).code], [1008, 1008]);
});
