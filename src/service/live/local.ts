/** Live sessions without a server, on a worker of their own. */
import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { scopes } from '../auth/token-format.ts';
import { createFairBudget } from '../fair-share.ts';
import { createPool, type PoolOptions } from '../workers/pool.ts';
import { maxSessionBytes, parseClientMessage, type SessionConfig, type serverMessages } from './protocol.ts';
import { type Connection, LiveSession, type ModelVersion } from './session.ts';
import { createTaskRunner } from './tasks.ts';

export type { SessionConfig };
export type LocalSession = LiveSession;
export type ServerMessages = {
  [Type in keyof typeof serverMessages]: z.infer<(typeof serverMessages)[Type]>;
};

type LocalOptions = {
  readonly settings: PoolOptions['settings'];
  readonly models: readonly ModelVersion[];
  readonly maxSeconds: number;
  readonly deadlineMs: number;
  onLost(cause: Error): void;
  onError(cause: unknown): void;
};

export type LocalSessions = {
  open(config: SessionConfig, connection: Connection): LocalSession;
  close(): Promise<void>;
};

/** Longest delay of a timer: samples may come at any time. */
const neverMs = 2 ** 31 - 1;

/** @throws ServiceError for a format that a session does not accept */
export function parseConfiguration(fields: object): SessionConfig {
  return parseClientMessage(JSON.stringify({ type: 'session.configure', ...fields })) as SessionConfig;
}

/** Resolves when the worker has loaded the models. The process stays alive until `close`. */
export async function openLocalSessions(options: LocalOptions): Promise<LocalSessions> {
  const { settings, models, maxSeconds, deadlineMs, onLost, onError } = options;
  const pool = createPool({ workers: 1, queue: 1, settings, onLost });
  // Workers that load their models do not keep the process alive.
  const alive = setInterval(() => {}, neverMs);
  const close = async () => {
    clearInterval(alive);
    await pool.close();
  };
  const nothing = () => {};
  const open = (config: SessionConfig, connection: Connection) => {
    const session = new LiveSession({
      connection,
      tasks: createTaskRunner(pool, 'local', deadlineMs),
      requestId: randomUUID(),
      scopes,
      memory: createFairBudget(maxSessionBytes).open(['local']),
      limits: { maxSeconds, idleMs: neverMs, configureMs: neverMs },
      models,
      metrics: { message: nothing, audio: nothing, step: nothing, closed: nothing },
      keep: () => true,
      onClosed: nothing,
      onError,
    });
    session.onText(JSON.stringify(config));
    return session;
  };
  try {
    await pool.started;
  } catch (error) {
    await close();
    throw error;
  }
  return { open, close };
}
