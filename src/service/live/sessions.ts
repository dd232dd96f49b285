/** The live sessions of this process: admission, memory and shutdown. */
import type { Principal, Tokens } from '../auth/tokens.ts';
import { type Usage, usageKey } from '../auth/usage.ts';
import type { Config } from '../config.ts';
import { ServiceError } from '../errors.ts';
import type { FairBudget } from '../fair-share.ts';
import type { Pool } from '../workers/pool.ts';
import { configureMs } from './protocol.ts';
import { type Connection, LiveSession, type ModelVersion, type SessionMetrics } from './session.ts';
import { createTaskRunner } from './tasks.ts';

type Client = {
  readonly account: string;
  readonly principal: Principal;
  readonly requestId: string;
};

export type Sessions = ReturnType<typeof createSessions>;

type SessionsOptions = {
  readonly config: Pick<Config, 'stream' | 'deadlineSeconds'>;
  readonly pool: Pick<Pool, 'submit'>;
  readonly tokens: Pick<Tokens, 'findEnded' | 'hasSeveralOwners'>;
  /** Bytes of audio, shared by accounts. */
  readonly budget: FairBudget;
  readonly models: readonly ModelVersion[];
  readonly metrics: SessionMetrics;
  readonly usage: Pick<Usage, 'add'>;
  onError(cause: unknown): void;
};

/** Maximum shares of one account: of the sessions once there is another owner, and of those that `keep_alive` keeps open. */
const accountShare = 1 / 2;
const keptShare = 1 / 4;

export function createSessions({ config, pool, tokens, budget, usage, ...shared }: SessionsOptions) {
  const { accountSessions, idleSeconds, maxSeconds, sessions: maxSessions } = config.stream;
  const open = new Map<LiveSession, Client>();
  const kept = new Map<LiveSession, Client>();
  const idleMs = 1000 * idleSeconds;
  const limits = { maxSeconds, idleMs, configureMs: Math.min(idleMs, configureMs) };
  const share = (part: number) => Math.max(1, Math.floor(part * maxSessions));
  const countOf = (account: string, among: ReadonlyMap<LiveSession, Client>) =>
    [...among.values()].filter((client) => client.account === account).length;
  let severalOwners = true;

  /** @throws ServiceError `overloaded` or `rate_limited` when the account may not open a session now */
  function admit(account: string): void {
    if (open.size >= maxSessions) {
      throw new ServiceError(
        'overloaded',
        `Expected fewer than ${maxSessions} open sessions, got ${open.size}`,
      );
    }
    const count = countOf(account, open);
    const maxCount = accountSessions ?? (severalOwners ? share(accountShare) : maxSessions);
    if (count >= maxCount) {
      const message = `Expected fewer than ${maxCount} open sessions of one account, got ${count}`;
      throw new ServiceError('rate_limited', message);
    }
  }

  function keep(session: LiveSession, client: Client, isKept: boolean): boolean {
    if (!isKept) kept.delete(session);
    else if (countOf(client.account, kept) < share(keptShare)) kept.set(session, client);
    return kept.has(session);
  }

  return {
    admit,
    open(connection: Connection, client: Client): LiveSession {
      const { account, principal, requestId } = client;
      const session: LiveSession = new LiveSession({
        ...shared,
        connection,
        scopes: principal.scopes,
        requestId,
        limits,
        tasks: createTaskRunner(pool, account, 1000 * config.deadlineSeconds),
        memory: budget.open([account]),
        keep: (isKept) => keep(session, client, isKept),
        onClosed: (audioSeconds) => {
          open.delete(session);
          kept.delete(session);
          usage.add(usageKey(principal), { audioSeconds });
        },
      });
      open.set(session, client);
      return session;
    },
    count: () => open.size,
    /**
     * Ends the sessions of revoked and expired tokens and deleted accounts, and counts the owners of tokens. Called every 2 s.
     * @throws ServiceError `storage_unavailable`
     */
    async refresh(): Promise<void> {
      const ended = await tokens.findEnded([...open.values()].map(({ principal }) => principal));
      const [revoked, expired] = [new Set(ended.revoked), new Set(ended.expired)];
      for (const [session, { principal }] of open) {
        if (revoked.has(principal)) session.revoke();
        else if (expired.has(principal)) session.expire();
      }
      severalOwners = await tokens.hasSeveralOwners();
    },
    /** Ends every session with its report. */
    drain: () => {
      for (const session of [...open.keys()]) session.drain();
    },
    /** Ends every session at once. */
    abort: () => {
      for (const session of [...open.keys()]) session.abort();
    },
  };
}
