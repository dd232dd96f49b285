/** The live sessions of this process: admission, memory and shutdown. */
import type { Scope } from '../auth/tokens.ts';
import type { Config } from '../runtime/config.ts';
import { ServiceError } from '../runtime/errors.ts';
import type { FairBudget } from '../runtime/fair-budget.ts';
import type { Pool } from '../workers/pool.ts';
import { type Connection, type ModelVersion, Session, type SessionMetrics } from './session.ts';
import { createTaskRunner } from './tasks.ts';

export type Client = {
  readonly account: string;
  readonly scopes: readonly Scope[];
  readonly requestId: string;
};

export type Sessions = {
  /** @throws ServiceError `overloaded` or `rate_limited` when the account may not open a session now */
  admit(account: string): void;
  open(connection: Connection, client: Client): Session;
  count(): number;
  /** Ends every session with its report. */
  drain(): void;
  /** Ends every session at once. */
  abort(): void;
};

export type SessionsOptions = {
  readonly config: Pick<Config, 'stream' | 'deadlineSeconds'>;
  readonly pool: Pick<Pool, 'submit'>;
  /** Bytes of audio, shared by accounts. */
  readonly budget: FairBudget;
  readonly models: readonly ModelVersion[];
  readonly metrics: SessionMetrics;
  onError(cause: unknown): void;
};

export function createSessions({ config, pool, budget, ...shared }: SessionsOptions): Sessions {
  const { accountSessions, idleSeconds, maxSeconds, sessions: maxSessions } = config.stream;
  const open = new Map<Session, string>();
  const limits = { maxSeconds, idleMs: 1000 * idleSeconds };

  function admit(account: string): void {
    if (open.size >= maxSessions) {
      throw new ServiceError(
        'overloaded',
        `Expected fewer than ${maxSessions} open sessions, got ${open.size}`,
      );
    }
    const own = [...open.values()].filter((each) => each === account).length;
    if (accountSessions !== null && own >= accountSessions) {
      const message = `Expected fewer than ${accountSessions} open sessions of one account, got ${own}`;
      throw new ServiceError('rate_limited', message);
    }
  }

  return {
    admit,
    open(connection, { account, scopes, requestId }) {
      const session: Session = new Session({
        ...shared,
        connection,
        scopes,
        requestId,
        limits,
        tasks: createTaskRunner(pool, 1000 * config.deadlineSeconds),
        memory: budget.open([account]),
        onClosed: () => open.delete(session),
      });
      open.set(session, account);
      return session;
    },
    count: () => open.size,
    drain: () => {
      for (const session of [...open.keys()]) session.drain();
    },
    abort: () => {
      for (const session of [...open.keys()]) session.abort();
    },
  };
}
