/** The app with real accounts in a real database, and browsers that keep cookies. */
import test, { type ExecutionContext } from 'ava';
import type { Tokens } from '../../src/service/auth/tokens.ts';
import { parseConfig } from '../../src/service/config.ts';
import type { Database } from '../../src/service/database.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { type App, analysis, openAccounts, startApp } from './app.ts';
import { databaseKinds, makeDatabaseUrl } from './database.ts';
import { type Call, call, type Reply } from './http.ts';

export type AccountApp = {
  readonly app: App;
  readonly kind: DatabaseKind;
  readonly database: Database;
  readonly tokens: Tokens;
  readonly url: string;
  browser(): Browser;
};

export type Browser = {
  /** A POST with a body, a GET without, to a path below /account/api. */
  ask(path: string, body?: object, change?: Partial<Call>): Promise<Answer>;
  signUp(email: string, password?: string): Promise<Answer>;
  cookies(): ReadonlyMap<string, string>;
  setCookie(name: string, value: string): void;
};

export type Answer = Reply & { readonly json: Readonly<Record<string, unknown>> };

export const password = 'correct horse battery';
let visitors = 0;

export async function startAccountApp(
  t: ExecutionContext,
  options: { kind?: DatabaseKind; url?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<AccountApp> {
  const kind = options.kind ?? 'sqlite';
  const url = options.url ?? (await makeDatabaseUrl(kind));
  // Each browser has an address of its own, as a proxy would tell it.
  const env = { UNDERTONE_TRUST_PROXY: '1', UNDERTONE_SIGNUP: 'open', ...options.env };
  const config = parseConfig(env);
  const opened = await openAccounts(t, config, kind, url);
  const { database, tokens } = opened;
  const app = await startApp(t, { env, verifier: tokens, accounts: opened });
  const origin = config.publicUrl ?? `http://127.0.0.1:${app.port}`;
  return { app, kind, database, tokens, url, browser: () => openBrowser(app.port, origin) };
}

/** One test with the app for each kind of database. */
export function testAccounts(
  title: string,
  body: (t: ExecutionContext, app: AccountApp) => Promise<void>,
  env: Readonly<Record<string, string>> = {},
): void {
  for (const kind of databaseKinds) {
    test(`${kind}: ${title}`, async (t) => body(t, await startAccountApp(t, { kind, env })));
  }
}

/** The status of an analysis with this token. */
export async function statusWith({ port }: App, token: string): Promise<number> {
  return (await call(port, analysis({ do: 'echo' }, token))).status;
}

/** The header line of a browser's cookies. */
export function cookieOf(browser: Browser): string {
  return [...browser.cookies()].map(([name, value]) => `${name}=${value}`).join('; ');
}

function openBrowser(port: number, origin: string): Browser {
  const jar = new Map<string, string>();
  const address = `10.0.${Math.floor(++visitors / 250)}.${visitors % 250}`;
  async function ask(path: string, body?: object, change: Partial<Call> = {}): Promise<Answer> {
    const cookie = cookieOf(browser);
    const headers: Record<string, string> = {
      'X-Forwarded-For': address,
      ...(cookie ? { Cookie: cookie } : {}),
    };
    if (body !== undefined) Object.assign(headers, { Origin: origin, 'Content-Type': 'application/json' });
    const reply = await call(port, {
      method: body === undefined ? 'GET' : 'POST',
      path: `/account/api/${path}`,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...change,
      headers: { ...headers, ...change.headers },
    });
    keep(jar, reply);
    return { ...reply, json: JSON.parse(reply.body) };
  }
  const browser: Browser = {
    ask,
    signUp: (email, secret = password) => ask('sign-up', { email, password: secret }),
    cookies: () => jar,
    setCookie: (name, value) => jar.set(name, value),
  };
  return browser;
}

function keep(jar: Map<string, string>, { headers }: Reply): void {
  for (const line of headers['set-cookie'] ?? []) {
    const [name = '', value = ''] = (line.split(';')[0] ?? '').split(/=(.*)/s);
    if (value === '' || /max-age=0/i.test(line)) jar.delete(name);
    else jar.set(name, value);
  }
}
