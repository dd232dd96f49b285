import { join } from 'node:path';
import test from 'ava';
import { createTokens } from '../../src/service/auth/tokens.ts';
import { openDatabase } from '../../src/service/database.ts';
import { printFirstToken } from '../../src/tools/serve.ts';
import { makeFolder } from '../support/folder.ts';

const url = 'http://127.0.0.1:8080';
const config = { token: null, dataDir: "/srv/it's", databaseUrl: "file:/srv/it's/undertone.db" };

async function open() {
  const database = await openDatabase(`file:${join(makeFolder(), 'undertone.db')}`);
  let text = '';
  const stdout = {
    write: (more: string) => {
      text += more;
    },
  };
  return { tokens: createTokens({ database, staticToken: null }), stdout, read: () => text };
}

test('two services that start together create one token', async (t) => {
  const { tokens, stdout, read } = await open();
  await Promise.all([
    printFirstToken({ url, config, tokens }, stdout),
    printFirstToken({ url, config, tokens }, stdout),
  ]);
  t.is((await tokens.list()).length, 1);
  t.is(read().match(/shown this once/g)?.length, 1);
  t.is(read().match(/another token/g)?.length, 1);
});
