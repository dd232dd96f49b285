/** Sign-up closes with the first account, unless the operator opens it. */
import test from 'ava';
import { claimFirstAccount, keepAsFirst } from '../../../src/service/auth/administrators.ts';
import { createSignUp } from '../../../src/service/auth/sign-up.ts';
import { startAccountApp, testAccounts } from '../../support/account.ts';
import { password } from '../../support/browser.ts';

const both: typeof testAccounts = (title, body) => testAccounts(title, body, { UNDERTONE_SIGNUP: 'first' });

const email = 'ada@home.example';
const refusal = {
  code: 'forbidden',
  detail: 'Sign-up is closed on this service: its operator creates accounts with `undertone user create`',
};

both('twelve parallel sign-ups create one account, the administrator', async (t, { browser, database }) => {
  const browsers = Array.from({ length: 12 }, browser);
  const replies = await Promise.all(browsers.map(({ signUp }, index) => signUp(`p${index}@home.example`)));
  const made = replies.filter(({ status }) => status === 200);
  t.is(made.length, 1);
  t.like(made[0]?.json, { user: { administrator: true }, sign_up: 'closed' });
  for (const { status, json } of replies.filter((reply) => reply !== made[0])) {
    t.is(status, 403);
    t.like(json, refusal);
  }
  for (const table of ['user', 'administrators'] as const)
    t.is((await database.selectFrom(table).selectAll().execute()).length, 1, table);
});

both(
  'sign-up is open for the first account, then closed, also once that account is deleted',
  async (t, { browser }) => {
    const ada = browser();
    t.deepEqual((await ada.ask('session')).json, { user: null, sign_up: 'first' });
    t.is((await ada.signUp(email)).status, 200);
    t.like((await browser().ask('session')).json, { sign_up: 'closed' });
    t.like((await browser().signUp('eve@home.example')).json, refusal);
    t.is((await ada.ask('remove', { password })).status, 200);
    t.like((await browser().signUp('eve@home.example')).json, refusal);
    t.like((await browser().ask('session')).json, { sign_up: 'closed' });
  },
);

both('a sign-up that fails leaves it open', async (t, { browser, database }) => {
  const { create, state } = createSignUp(database, 'first');
  const fails = async () => {
    throw new Error('no disk');
  };
  await t.throwsAsync(create({ create: fails, discard: fails }), { message: 'no disk' });
  t.is(await state(), 'first');
  t.is((await browser().signUp(email)).status, 200);
});

both('a sign-up that never ended blocks others for a minute', async (t, { browser, database }) => {
  const lost = await claimFirstAccount(database);
  t.truthy(lost);
  t.is(await claimFirstAccount(database), null);
  t.like((await browser().signUp(email)).json, refusal);
  await database
    .updateTable('administrators')
    .set(({ eb }) => ({ claimed_at: eb('claimed_at', '-', 61_000) }))
    .execute();
  const ada = await browser().signUp(email);
  t.like(ada.json.user, { email, administrator: true });
  t.false(await lost?.keep('nobody'));
  await lost?.release();
  t.is(await claimFirstAccount(database), null);
});

both(
  'a sign-up that never ended with a clock that was ahead blocks none',
  async (t, { browser, database }) => {
    await claimFirstAccount(database);
    await database
      .updateTable('administrators')
      .set({ claimed_at: Date.now() + 7_200_000 })
      .execute();
    t.is((await browser().signUp(email)).status, 200);
  },
);

both('a sign-up that took longer than its claim is undone', async (t, { browser, database }) => {
  const { create } = createSignUp(database, 'first');
  const discarded: string[] = [];
  const late = create({
    create: async () => {
      await database.updateTable('administrators').set({ claimed_at: 1 }).execute();
      t.is((await browser().signUp(email)).status, 200);
      return { session: { id: 's', owner: 'late' }, email: 'late@home.example', cookies: [] };
    },
    discard: async ({ session }) => void discarded.push(session.owner),
  });
  await t.throwsAsync(late, { message: refusal.detail });
  t.deepEqual(discarded, ['late']);
});

both('an account created in another way closes sign-up too', async (t, { browser, database }) => {
  await browser().signUp(email);
  // State of a process that was killed between the two steps.
  await database.deleteFrom('administrators').execute();
  t.like((await browser().ask('session')).json, { sign_up: 'closed' });
  t.like((await browser().signUp('eve@home.example')).json, refusal);
  t.is(await claimFirstAccount(database), null);
});

testAccounts(
  'open sign-up: of twelve parallel sign-ups one is administrator',
  async (t, { browser, database }) => {
    const sessions = Array.from({ length: 12 }, (_, index) => browser().signUp(`p${index}@home.example`));
    t.deepEqual([...new Set((await Promise.all(sessions)).map(({ status }) => status))], [200]);
    t.deepEqual((await browser().ask('session')).json, { user: null, sign_up: 'open' });
    t.is((await database.selectFrom('administrators').selectAll().execute()).length, 1);
    t.false(await keepAsFirst(database, 'another'));
  },
);

test('closed sign-up: nobody can sign up, and the session says so', async (t) => {
  const { browser } = await startAccountApp(t, { env: { UNDERTONE_SIGNUP: 'closed' } });
  t.deepEqual((await browser().ask('session')).json, { user: null, sign_up: 'closed' });
  t.like(await browser().signUp(email), { status: 403, json: refusal });
});
