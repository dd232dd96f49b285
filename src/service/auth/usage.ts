/** Requests, errors and seconds of audio per token and UTC day, written in batches and kept for 90 days. Counts only. */

import { createDelayedWrite, type WriteFailures } from '../background-writes.ts';
import { type Database, runQuery } from '../database.ts';
import { type Owner, type Principal, tokenTable } from './token-table.ts';

type Counts = { readonly requests: number; readonly errors: number; readonly audioSeconds: number };

/** `date`: YYYY-MM-DD. */
export type DayCounts = Counts & { readonly date: string };

export type UsageKey = { readonly token: string; readonly owner: Owner };

/** Name, purpose and address are null where there is no such token or account. */
export type TokenUsage = UsageKey & {
  readonly name: string | null;
  readonly purpose: string | null;
  readonly email: string | null;
  readonly days: readonly DayCounts[];
};

/** `since`: the first day that is kept, YYYY-MM-DD. */
type Since = { readonly since: string };

export type AccountUsage = Since & { readonly tokens: readonly TokenUsage[] };

export type Usage = ReturnType<typeof createUsageCounts>;

type Row = UsageKey & { date: string; requests: number; errors: number; audio_ms: number };

const rowsPerStatement = 500;

/** Session tokens of an account, which are created every few minutes, count together. */
export const playgroundUsage = 'playground';

export function usageKey({ id, owner, session }: Principal): UsageKey {
  return { token: session === null ? id : `${playgroundUsage}:${owner}`, owner };
}

/** @param now ms since 1970 */
export function createUsageCounts(
  database: Database,
  now: () => number = Date.now,
  failures?: WriteFailures,
) {
  let unwritten = new Map<string, Row>();
  let writing: Promise<void> = Promise.resolve();
  let begunWrites = 0;
  const since = () => firstUsageDay(now());

  function merge(row: Row): void {
    const key = `${row.date} ${row.token}`;
    const { requests = 0, errors = 0, audio_ms = 0 } = unwritten.get(key) ?? {};
    unwritten.set(key, {
      ...row,
      requests: requests + row.requests,
      errors: errors + row.errors,
      audio_ms: audio_ms + row.audio_ms,
    });
  }

  async function write(): Promise<void> {
    // Concurrent processes lock rows in the same order.
    const rows = [...unwritten.keys()].sort().map((key) => unwritten.get(key) as Row);
    unwritten = new Map();
    try {
      const owners = await existingOwners(database, rows);
      while (rows.length > 0) {
        const batch = rows.slice(0, rowsPerStatement);
        await insert(
          database,
          batch.filter(({ owner }) => owner === null || owners.has(owner)),
        );
        rows.splice(0, batch.length);
      }
    } catch (error) {
      for (const row of rows) merge(row);
      throw error;
    }
  }

  function startWrite(): Promise<void> {
    begunWrites++;
    const written = write();
    writing = written.catch(() => {});
    return written;
  }

  const delayed = createDelayedWrite(
    startWrite,
    failures && ((attempt) => failures.observe('usage', attempt)),
  );

  /** Rows of the database with the unwritten counts added. Reading starts no write. */
  async function read(stored: () => Promise<Row[]>, matches: (row: Row) => boolean): Promise<Row[]> {
    for (;;) {
      const begun = begunWrites;
      await writing;
      const rows = await runQuery(stored());
      // A write that began meanwhile moved counts from one to the other.
      if (begun === begunWrites)
        return sumRows([...rows, ...[...unwritten.values()].filter(matches)], since());
    }
  }

  return {
    add({ token, owner }: UsageKey, { requests = 0, errors = 0, audioSeconds = 0 }: Partial<Counts>): void {
      merge({
        token,
        owner,
        date: dayOf(now()),
        requests,
        errors,
        audio_ms: Math.round(1000 * audioSeconds),
      });
      delayed.schedule();
    },
    /** Days with requests or audio, newest first. @throws ServiceError `storage_unavailable` */
    async ofToken({ token }: UsageKey): Promise<Since & { readonly days: readonly DayCounts[] }> {
      const stored = database.selectFrom('usage').selectAll().where('token', '=', token);
      const rows = await read(
        () => stored.where('date', '>=', since()).execute(),
        (row) => row.token === token,
      );
      return { since: since(), days: rows.map(toDay) };
    },
    /** Usage of an account's tokens, or of all tokens. @throws ServiceError `storage_unavailable` */
    async ofTokens(owner: Owner | 'all'): Promise<AccountUsage> {
      const all = database.selectFrom('usage').selectAll().where('date', '>=', since());
      const stored = owner === 'all' ? all : all.where('owner', '=', owner);
      const rows = await read(
        () => stored.execute(),
        (row) => owner === 'all' || row.owner === owner,
      );
      return { since: since(), tokens: await groupByToken(database, rows) };
    },
    flush: delayed.flush,
  };
}

/** The tokens with the most requests first. */
async function groupByToken(database: Database, rows: readonly Row[]): Promise<TokenUsage[]> {
  const table = tokenTable(database);
  const labels = await table.findLabels([...new Set(rows.map(({ token }) => token))]);
  const emails = await table.findEmails(ownersOf(rows));
  const tokens = new Map<string, TokenUsage & { days: DayCounts[] }>();
  for (const { token, owner, ...day } of rows) {
    const { name, purpose } = labels.get(token) ?? { name: null, purpose: null };
    const email = emails.get(owner ?? '') ?? null;
    const usage = tokens.get(token) ?? { token, owner, name, purpose, email, days: [] };
    usage.days.push(toDay(day));
    tokens.set(token, usage);
  }
  return [...tokens.values()].sort((one, other) => requestsOf(other) - requestsOf(one));
}

function requestsOf({ days }: TokenUsage): number {
  return days.reduce((sum, { requests }) => sum + requests, 0);
}

/** Accounts may be deleted between a request and its write. */
async function existingOwners(database: Database, rows: readonly Row[]): Promise<ReadonlySet<string>> {
  return new Set(await tokenTable(database).findOwners(ownersOf(rows)));
}

function ownersOf(rows: readonly Row[]): string[] {
  return [...new Set(rows.map(({ owner }) => owner))].filter((owner) => owner !== null);
}

/** One row per token and day, by token and newest day first. PostgreSQL returns 64-bit integers as text. */
function sumRows(rows: readonly Row[], since: string): Row[] {
  const sums = new Map<string, Row>();
  for (const { token, owner, date, ...counts } of rows.filter(({ date }) => date >= since)) {
    const key = `${token} ${date}`;
    const sum = sums.get(key) ?? { token, owner, date, requests: 0, errors: 0, audio_ms: 0 };
    sum.requests += Number(counts.requests);
    sum.errors += Number(counts.errors);
    sum.audio_ms += Number(counts.audio_ms);
    sums.set(key, sum);
  }
  return [...sums.values()].sort((one, other) => {
    if (one.token !== other.token) return one.token < other.token ? -1 : 1;
    return one.date < other.date ? 1 : -1;
  });
}

async function insert(database: Database, rows: readonly Row[]): Promise<void> {
  if (rows.length === 0) return;
  const query = database
    .insertInto('usage')
    .values(rows)
    .onConflict((conflict) =>
      conflict.columns(['token', 'date']).doUpdateSet((row) => ({
        requests: row('usage.requests', '+', row.ref('excluded.requests')),
        errors: row('usage.errors', '+', row.ref('excluded.errors')),
        audio_ms: row('usage.audio_ms', '+', row.ref('excluded.audio_ms')),
      })),
    );
  await runQuery(query.execute());
}

function toDay({ date, requests, errors, audio_ms }: Omit<Row, 'owner' | 'token'>): DayCounts {
  return { date, requests, errors, audioSeconds: audio_ms / 1000 };
}

/** Days of the counts of usage, today included. */
export const usageDays = 90;

const dayMs = 86_400_000;

/** The UTC day, YYYY-MM-DD. @param time ms since 1970 */
function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}

/** The first day of the counts that are kept. @param now ms since 1970 */
export function firstUsageDay(now: number): string {
  return dayOf(now - (usageDays - 1) * dayMs);
}
