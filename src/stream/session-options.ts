/** Dependencies and limits of a session. */
import type { Scope } from '../auth/tokens.ts';
import type { Reservation } from '../runtime/fair-budget.ts';
import type { TaskRunner } from './tasks.ts';

export type Connection = {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Stops reading from the socket. */
  pause(): void;
  resume(): void;
};

export type ModelVersion = {
  readonly name: string;
  readonly version: string;
  readonly features_version: number;
};

export type SessionMetrics = {
  message(type: string): void;
  audio(seconds: number): void;
  /** From the last sample of a step to its messages. */
  step(ms: number): void;
  closed(code: number): void;
};

export type SessionOptions = {
  readonly connection: Connection;
  readonly tasks: TaskRunner;
  readonly requestId: string;
  readonly scopes: readonly Scope[];
  readonly memory: Reservation;
  readonly limits: {
    readonly maxSeconds: number;
    readonly idleMs: number;
    /** From the start to `session.configure`. */
    readonly configureMs: number;
  };
  readonly models: readonly ModelVersion[];
  readonly metrics: SessionMetrics;
  /**
   * Called with true for a `keep_alive`, with false when audio arrives after one.
   * @returns whether the session is kept: an account keeps a limited number without audio
   */
  keep(kept: boolean): boolean;
  /** Called once, with the seconds of audio that were received. */
  onClosed(audioSeconds: number): void;
  /** Called with the cause of an internal error. */
  onError(cause: unknown): void;
};
