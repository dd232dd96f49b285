/** The statuses of the account page's operations. */
import { join } from 'node:path';
import { createPlaygroundCodes } from '../../../src/service/auth/short-tokens.ts';
import { createTokens } from '../../../src/service/auth/tokens.ts';
import { openDatabase } from '../../../src/service/database.ts';
import type { Server } from '../support/service.ts';
import type { ResponseListener } from './asking.ts';
import { type AccountClient, createAccountClient, operationOf, password } from './visitor.ts';

const post = (path: string) => operationOf('POST', path);
const revoke = post('tokens/{id}/revoke');
const credentials = (email: string) => ({ email: `${email}@home.example`, password });
const wrong = { ...credentials('ada'), password: 'not this one at all' };
const wrongPasswords = 11;
const tooManyTokens = 201;
const tooManySignUps = 21;

/** Request bodies by operation. */
export const bodies: Readonly<Record<string, object>> = {
  [post('sign-up')]: credentials('ada'),
  [post('log-in')]: credentials('ada'),
  [post('password')]: { current_password: wrong.password, new_password: password },
  [post('remove')]: { password: wrong.password },
  [post('playground-link')]: { code: 'unknown' },
  [post('tokens')]: { name: 'ci', scopes: ['analyze:emotion'], expires_in_days: null },
};

export async function askAccount(server: Server, onResponse: ResponseListener): Promise<void> {
  const ada = createAccountClient(server, onResponse);
  await ada.ask(operationOf('GET', 'session'));
  await ada.ask(post('sign-up'), bodies[post('sign-up')]);
  await askAsAda(ada);
  await ada.ask(post('playground-link'), { code: await createCode(server) });
  await refuse(server, onResponse, ada);
  await askTooOften(server, onResponse, ada);
}

async function createCode({ dataDir }: Server): Promise<string> {
  const database = await openDatabase(`file:${join(dataDir, 'undertone.db')}`);
  const tokens = createTokens({ database, staticToken: null });
  return createPlaygroundCodes({ database, tokens })
    .create()
    .finally(() => database.destroy());
}

async function askAsAda(ada: AccountClient): Promise<void> {
  const made = await ada.ask(post('tokens'), bodies[post('tokens')]);
  for (const path of ['tokens', 'usage']) await ada.ask(operationOf('GET', path));
  const path = `/account/api/tokens/${String(made.id)}/revoke`;
  for (const _ of ['done', 'not found']) await ada.ask(revoke, {}, { path });
  await ada.ask(post('playground-token'));
  await ada.ask(post('password'), { current_password: password, new_password: password });
  await ada.ask(post('log-out'));
  await ada.ask(post('log-in'), credentials('ada'));
}

/** 401, 403, 413 and 422. */
async function refuse(server: Server, onResponse: ResponseListener, ada: AccountClient): Promise<void> {
  const nobody = createAccountClient(server, onResponse);
  for (const path of ['tokens', 'usage']) await nobody.ask(operationOf('GET', path));
  for (const operation of [...Object.keys(bodies), revoke, post('playground-token')]) {
    if (operation !== post('sign-up'))
      await nobody.ask(operation, bodies[operation] && { ...bodies[operation], ...wrong });
  }
  const everyPost = [...Object.keys(bodies), revoke, post('playground-token'), post('log-out')];
  for (const operation of everyPost) {
    await ada.ask(operation, {}, { headers: { Origin: 'https://evil.example' } });
    if (bodies[operation] === undefined) continue;
    await ada.ask(operation, { email: 'no address' });
    await ada.ask(operation, JSON.stringify({ x: 'x'.repeat(20_000) }));
  }
}

/** 429, and the end of the account. */
async function askTooOften(server: Server, onResponse: ResponseListener, ada: AccountClient): Promise<void> {
  const bob = createAccountClient(server, onResponse);
  await bob.ask(post('sign-up'), credentials('bob'));
  await bob.ask(post('remove'), { password });
  for (let times = 0; times < wrongPasswords; times++) await bob.ask(post('log-in'), wrong);
  for (const operation of [post('password'), post('remove')]) await ada.ask(operation, bodies[operation]);
  for (let times = 0; times < tooManySignUps; times++) await bob.ask(post('sign-up'), credentials('ada'));
  for (let times = 0; times < tooManyTokens; times++) await ada.ask(post('playground-token'));
  await ada.ask(post('tokens'), bodies[post('tokens')]);
}
