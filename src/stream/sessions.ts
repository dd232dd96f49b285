/** The live sessions of this process: admission, memory and shutdown. */
import type { Principal, Tokens } from '../auth/tokens.ts';
import { type Usage, usageKey } from '../auth/usage.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { FairBudget } from '../runtime/fair-budget.ts';
import type { Pool } from '../workers/pool.ts';
import { Session } from './session.ts';
import type { Connection, ModelVersion, SessionMetrics } from './session-options.ts';
import { createTaskRunner } from './tasks.ts';

export type Client = {
  readonly account: string;
  readonly principal: Principal;
  readonly requestId: string;
};

export type Sessions = {
  /** @throws ServiceError `overloaded` or `rate_limited` when the account may not open a session now */
  admit(account: string): void;
  open(connection: Connection, client: Client): Session;
  count(): number;
  /** Ends the sessions of revoked tokens and deleted accounts. @throws ServiceError `storage_unavailable` */
  endRevoked(): Promise<void>;
  /** Ends every session with its report. */
  drain(): void;
  /** Ends every session at once. */
  abort(): void;
};

export type SessionsOptions = {
  readonly config: Pick<Config, 'stream' | 'deadlineSeconds'>;
  readonly pool: Pick<Pool, 'submit'>;
  readonly tokens: Pick<Tokens, 'findRevoked'>;
  /** Bytes of audio, shared by accounts. */
  readonly budget: FairBudget;
  readonly models: readonly ModelVersion[];
  readonly metrics: SessionMetrics;
  readonly usage: Pick<Usage, 'add'> | null;
  onError(cause: unknown): void;
};

export function createSessions({
  config,
  pool,
  tokens,
  budget,
  usage,
  ...shared
}: SessionsOptions): Sessions {
  const { accountSessions, idleSeconds, maxSeconds, sessions: maxSessions } = config.stream;
  const open = new Map<Session, Client>();
  const limits = { maxSeconds, idleMs: 1000 * idleSeconds };

  function admit(account: string): void {
    if (open.size >= maxSessions) {
      throw new ServiceError(
        'overloaded',
        `Expected fewer than ${maxSessions} open sessions, got ${open.size}`,
      );
    }
    const own = [...open.values()].filter((client) => client.account === account).length;
    if (accountSessions !== null && own >= accountSessions) {
      const message = `Expected fewer than ${accountSessions} open sessions of one account, got ${own}`;
      throw new ServiceError('rate_limited', message);
    }
  }

  return {
    admit,
    open(connection, client) {
      const { account, principal, requestId } = client;
      const session: Session = new Session({
        ...shared,
        connection,
        scopes: principal.scopes,
        requestId,
        limits,
        tasks: createTaskRunner(pool, account, 1000 * config.deadlineSeconds),
        memory: budget.open([account]),
        onClosed: (audioSeconds) => {
          open.delete(session);
          usage?.add(usageKey(principal), { audioSeconds });
        },
      });
      open.set(session, client);
      return session;
    },
    count: () => open.size,
    async endRevoked() {
      const revoked = new Set(await tokens.findRevoked([...open.values()].map(({ principal }) => principal)));
      for (const [session, { principal }] of open) if (revoked.has(principal)) session.revoke();
    },
    drain: () => {
      for (const session of [...open.keys()]) session.drain();
    },
    abort: () => {
      for (const session of [...open.keys()]) session.abort();
    },
  };
}
