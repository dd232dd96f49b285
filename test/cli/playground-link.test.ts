import test from 'ava';
import { parseConfig } from '../../src/service/config.ts';
import { printPlaygroundLink } from '../../src/tools/serve.ts';

const url = 'http://127.0.0.1:8080';

async function printed(env: Readonly<Record<string, string>>): Promise<string> {
  let text = '';
  const stdout = {
    write: (more: string) => {
      text += more;
    },
  };
  const playgroundCodes = { create: async () => 'the-code' };
  await printPlaygroundLink({ url, config: parseConfig(env), playgroundCodes }, stdout);
  return text;
}

test('the link is printed for a service that only this machine reaches', async (t) => {
  for (const env of [{}, { UNDERTONE_HOST: 'localhost' }, { UNDERTONE_HOST: '::1' }]) {
    t.regex(await printed(env), /^playground, signed in .*: http:\/\/127\.0\.0\.1:8080\/#code=the-code\n$/);
  }
});

test('no link is printed where others reach the service', async (t) => {
  for (const env of [
    { UNDERTONE_HOST: '0.0.0.0' },
    { UNDERTONE_HOST: '10.0.0.1' },
    { UNDERTONE_TRUST_PROXY: '1' },
    { UNDERTONE_PUBLIC_URL: 'https://voice.example' },
  ]) {
    t.is(await printed(env), '', JSON.stringify(env));
  }
});
