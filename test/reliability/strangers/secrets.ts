/** Secrets in Redis keys, sessions, child processes and command lines. */
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { childrenOf } from '../../../benchmarks/process.ts';
import { runCli } from '../../support/cli.ts';
import { call } from '../../support/http.ts';
import { makeToken } from '../../support/server.ts';
import { atMost, none, type Row } from '../case.ts';
import { analysis, exchange } from '../support/exchange.ts';
import { type JobStack, type Server, withServer } from '../support/service.ts';
import { speechUpload } from '../support/speech.ts';
import { credentials, openAccount, post } from './account.ts';

const addresses = ['203.0.113.77', '2001:db8:77:88::99'];
const logInAttempts = 40;

/** A word as plain text, encoded, and as common digests. */
function shapesOf(word: string): string[] {
  const plain = Buffer.from(word);
  const digests = ['md5', 'sha1', 'sha256', 'sha512'].flatMap((name) => {
    const digest = createHash(name).update(word).digest();
    return [digest.toString('hex'), digest.toString('base64url'), digest.toString('base64')];
  });
  // A key may hold the beginning of a digest.
  const parts = digests.map((digest) => digest.replace(/=+$/, '').slice(0, 16));
  return [
    word,
    plain.toString('hex'),
    plain.toString('base64').replace(/=+$/, ''),
    encodeURIComponent(word),
    ...parts,
  ];
}

/** Keys that reveal one of the words. */
function revealing(keys: readonly string[], words: readonly string[]): string[] {
  const shapes = words.flatMap(shapesOf);
  return keys.filter((key) => shapes.some((shape) => key.toLowerCase().includes(shape.toLowerCase())));
}

/** Settings for `useCounters`. */
export const keySettings = {
  UNDERTONE_TRUST_PROXY: '1',
  UNDERTONE_SIGNUP: 'open',
  UNDERTONE_RATE_LIMIT: '600/60',
  UNDERTONE_ADDRESS_RATE_LIMIT: '600/60',
  UNDERTONE_LOG_LEVEL: 'error',
};

const person = 'bob@home.example';

/** Log-ins, right and wrong, and requests that are counted. */
export async function useCounters({ server }: JobStack): Promise<void> {
  const { email, accountClient } = await openAccount(server, 'ada');
  for (const address of addresses) {
    const headers = { 'X-Forwarded-For': address };
    await exchange(analysis(server, speechUpload(1), { headers }));
    await exchange(analysis({ ...server, token: 'a-token-that-nobody-has' }, speechUpload(1), { headers }));
    await accountClient.ask(
      post('log-in'),
      { ...credentials(email), password: 'a wrong password' },
      { headers },
    );
    await accountClient.ask(post('log-in'), credentials(email), { headers });
    await accountClient.ask(post('sign-up'), credentials(person), { headers });
  }
}

export async function keyRow({ redis }: JobStack): Promise<Row> {
  const keys = await redis.client.keys('*');
  const words = ['ada@home.example', person, ...addresses, '2001:db8:77:88::', '127.0.0.1'];
  const found = revealing(keys, words);
  if (keys.length < 4) throw new Error(`Expected counters in Redis, got the keys ${keys.join(' ')}`);
  return none('Redis keys with an e-mail or client address', found, keys.length);
}

/** `limits`: those of the service. */
export async function sessionRows(
  server: Server,
  limits: { readonly logIns: number; readonly sessions: number },
): Promise<Row[]> {
  const { email, accountClient } = await openAccount(server, 'grace');
  const cookies = [accountClient.cookie()];
  for (let times = 0; times < logInAttempts; times++) {
    const reply = await call(server.port, {
      method: 'POST',
      path: '/account/api/log-in',
      headers: { Origin: server.url, 'Content-Type': 'application/json' },
      body: JSON.stringify(credentials(email)),
    });
    const [line] = reply.headers['set-cookie'] ?? [];
    if (reply.status === 200 && line !== undefined) cookies.push(line.split(';')[0] as string);
  }
  const live = await Promise.all(
    cookies.map(async (Cookie) => {
      const { body } = await call(server.port, { path: '/account/api/session', headers: { Cookie } });
      return (JSON.parse(body) as { readonly user: object | null }).user !== null;
    }),
  );
  const unit = `of ${logInAttempts}`;
  return [
    atMost(limits.logIns, 'valid log-ins of one account accepted in a minute', unit, cookies.length - 1),
    atMost(limits.sessions, 'sessions of one account', 'sessions', live.filter(Boolean).length),
  ];
}

export async function scopesRow(server: Server): Promise<Row> {
  const { accountClient, lastStatus } = await openAccount(server, 'linus');
  const accepted: string[] = [];
  const counts = [3, 100, 1000];
  for (const count of counts) {
    const scopes = new Array<string>(count).fill('analyze:emotion');
    await accountClient.ask(post('tokens'), { name: `many ${count}`, scopes });
    if (lastStatus() < 400) accepted.push(String(count));
  }
  return none('tokens with the same scope 3, 100 and 1,000 times', accepted, counts.length);
}

const secretVariables = {
  PGPASSWORD: 'canary-of-postgres',
  AWS_SECRET_ACCESS_KEY: 'canary-of-the-cloud',
  AWS_SESSION_TOKEN: 'canary-of-a-session',
  GOOGLE_APPLICATION_CREDENTIALS: '/canary/of/a/file',
  DATABASE_URL: 'postgres://canary@localhost/x',
  UNDERTONE_SECRET: 'canary-of-the-service-0123456789abcdef',
};

export async function environmentRow(): Promise<Row> {
  const env = { ...secretVariables, UNDERTONE_ISOLATION: 'process', UNDERTONE_WORKERS: '2' };
  return withServer(env, async ({ process }) => {
    const children = childrenOf(process.pid as number);
    const found = children.flatMap((pid) => {
      const text = readFileSync(`/proc/${pid}/environ`, 'latin1');
      return Object.entries(secretVariables).filter(
        ([name, value]) => text.includes(name) || text.includes(value),
      );
    });
    const names = [...new Set(found.map(([name]) => name))];
    if (children.length === 0) throw new Error('Expected analysis processes, got none');
    return none(
      'secrets of the environment in analysis processes',
      names,
      Object.keys(secretVariables).length,
    );
  });
}

/** A token on a command line can be read by every user of the machine. */
export async function bulkRow(server: Server): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-bulk-'));
  const token = makeToken(server, 'analyze:emotion,analyze:cognitive', 'bulk');
  const file = join(folder, 'token');
  writeFileSync(file, `${token}\n`, { mode: 0o600 });
  const ways = {
    variable: { args: [], env: { UNDERTONE_TOKEN: token }, input: '' },
    file: { args: ['--token-file', file], env: {}, input: '' },
    'standard input': { args: ['--token-file', '-'], env: {}, input: `${token}\n` },
  };
  try {
    const failed: string[] = [];
    for (const [name, { args, env, input }] of Object.entries(ways)) {
      const output = join(folder, `${name}.jsonl`);
      const line = ['bulk', 'examples/sample.wav', '--url', server.url, '--output', output, ...args];
      const { code } = await runCli(line, { env, input });
      if (code !== 0) failed.push(name);
    }
    return none('ways to pass a token to bulk that fail', failed, Object.keys(ways).length);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
