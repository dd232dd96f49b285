/** The app with real accounts in a real database. */
import test, { type ExecutionContext } from 'ava';
import type { Tokens } from '../../src/service/auth/tokens.ts';
import { parseConfig } from '../../src/service/config.ts';
import type { Database } from '../../src/service/database.ts';
import type { DatabaseKind } from '../../src/service/migrations.ts';
import { type App, analysis, openAccounts, startApp } from './app.ts';
import { type Browser, openBrowser } from './browser.ts';
import { databaseKinds, makeDatabaseUrl } from './database.ts';
import { call } from './http.ts';

export type AccountApp = {
  readonly app: App;
  readonly kind: DatabaseKind;
  readonly database: Database;
  readonly tokens: Tokens;
  readonly url: string;
  browser(): Browser;
};

export async function startAccountApp(
  t: ExecutionContext,
  options: { kind?: DatabaseKind; url?: string; env?: Readonly<Record<string, string>> } = {},
): Promise<AccountApp> {
  const kind = options.kind ?? 'sqlite';
  const url = options.url ?? (await makeDatabaseUrl(kind));
  // Each browser has an address of its own, as a proxy would send it.
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
