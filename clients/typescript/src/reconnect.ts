/** A live session that goes on in a new one when it is lost. */
import { ApiError, SessionEndedError, type UndertoneError } from './errors.ts';
import { reconnectDelayMs, retried, sleep } from './retry.ts';
import {
  type Reconnected,
  type Session,
  type StreamConfig,
  type StreamMessage,
  type StreamSession,
  toBytes,
} from './stream.ts';

/** Opens a session. Without `retries`, those of the client. */
export type Open<R> = (signal: AbortSignal | undefined, retries?: number) => Promise<Session<R>>;

/** Shutdown, lost connection, error, restart, overload: https://www.iana.org/assignments/websocket names them. */
const lostCodes: readonly unknown[] = [1001, 1006, 1011, 1012, 1013];
const maxAttempts = 8;
/** A session that is lost sooner counts as an attempt that failed. */
const settledMs = 10_000;
const sampleBytes = { s16le: 2, f32le: 4, mulaw: 1, alaw: 1 } as const;

/** @throws what opened no first session */
export async function openReconnecting<R>(
  open: Open<R>,
  config: StreamConfig,
  signal: AbortSignal | undefined,
): Promise<StreamSession<R>> {
  const stop = new AbortController();
  const abort = () => stop.abort(signal?.reason);
  const release = () => signal?.removeEventListener('abort', abort);
  signal?.addEventListener('abort', abort, { once: true });
  if (signal?.aborted) abort();
  try {
    return new ReconnectingSession(await open(stop.signal), open, config, stop, release);
  } catch (error) {
    release();
    throw error;
  }
}

type Part<R> = { readonly session: Session<R>; readonly next: Promise<Next<R> | null> };
type Next<R> = { readonly part: Part<R>; readonly event: Reconnected };

class ReconnectingSession<R> implements StreamSession<R> {
  readonly #open: Open<R>;
  readonly #stop: AbortController;
  readonly #release: () => void;
  readonly #frameBytes: number;
  readonly #bytesPerSecond: number;
  /** The last that was open. */
  #session: Session<R>;
  /** Whose messages are read. */
  #reading: Part<R>;
  /** The error of the last attempt; undefined while there may be another. */
  #failure: unknown;
  #isEnding = false;
  #attempts = 0;
  /** Bytes given to `send`, those of them before the current session, and those sent to it. */
  #bytes = 0;
  #startBytes = 0;
  #sentBytes = 0;

  constructor(
    session: Session<R>,
    open: Open<R>,
    config: StreamConfig,
    stop: AbortController,
    release: () => void,
  ) {
    this.#open = open;
    this.#stop = stop;
    this.#release = release;
    this.#frameBytes = sampleBytes[config.encoding] * config.channels;
    this.#bytesPerSecond = this.#frameBytes * config.sample_rate_hz;
    this.#session = session;
    this.#reading = { session, next: this.#follow(session) };
  }

  async send(samples: ArrayBuffer | ArrayBufferView): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    const session = this.#session;
    const bytes = toBytes(samples);
    const skipped = Math.min(bytes.length, Math.max(0, this.#startBytes - this.#bytes));
    this.#bytes += bytes.length;
    if (session.ended === undefined) this.#sentBytes += bytes.length - skipped;
    await session.send(bytes.subarray(skipped)).catch(async (error: unknown) => {
      this.#drop(session, error);
      // A program that sends in a loop leaves time for the attempts.
      await sleep(0, undefined);
    });
  }

  turnEnd(): void {
    if (this.#failure !== undefined) throw this.#failure;
    try {
      this.#session.turnEnd();
    } catch (error) {
      this.#drop(this.#session, error);
    }
  }

  async end(): Promise<R> {
    if (this.#failure !== undefined) throw this.#failure;
    this.#isEnding = true;
    if (this.#session.ended !== undefined) this.#stop.abort();
    return this.#session.end();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamMessage<R>> {
    for (;;) {
      const { session, next } = this.#reading;
      let failure: unknown;
      try {
        yield* session;
      } catch (error) {
        failure = error;
      }
      const following = await next;
      if (following === null) {
        if (this.#failure !== undefined) throw this.#failure;
        if (failure !== undefined) throw failure;
        return;
      }
      this.#reading = following.part;
      yield following.event;
    }
  }

  /** @throws `error` of a session that no other follows */
  #drop(session: Session<R>, error: unknown): void {
    if (!this.#isFollowed(session)) throw this.#failure ?? error;
  }

  #isFollowed({ closeCode }: Session<R>): boolean {
    return !this.#isEnding && this.#failure === undefined && lostCodes.includes(closeCode);
  }

  /** Never rejects. Resolves with null when no session follows. */
  async #follow(session: Session<R>): Promise<Next<R> | null> {
    const openedAt = performance.now();
    await session.over.catch(() => {});
    if (performance.now() - openedAt > settledMs) this.#attempts = 0;
    const next = this.#isFollowed(session) ? await this.#reopen(session) : null;
    if (next === null) this.#release();
    return next;
  }

  async #reopen(lost: Session<R>): Promise<Next<R> | null> {
    const { signal } = this.#stop;
    let error = lost.ended;
    try {
      while (this.#attempts < maxAttempts && isTemporary(error)) {
        const asked = error instanceof ApiError ? error.retryAfterSeconds : null;
        await sleep(reconnectDelayMs(this.#attempts++, asked), signal);
        const session = await this.#open(signal, 0).catch((cause: unknown) => {
          error = cause;
        });
        if (signal.aborted) throw signal.reason;
        if (session !== undefined) return this.#start(session, lost);
      }
    } catch (reason) {
      error = reason;
    }
    if (!this.#isEnding) this.#failure = error;
    return null;
  }

  #start(session: Session<R>, lost: Session<R>): Next<R> {
    const startBytes = Math.ceil(this.#bytes / this.#frameBytes) * this.#frameBytes;
    const { receivedSeconds: received } = lost;
    const receivedBytes =
      received === undefined ? this.#sentBytes : Math.round(received * this.#bytesPerSecond);
    const event: Reconnected = {
      type: 'reconnected',
      error: lost.ended as UndertoneError,
      offset_s: startBytes / this.#bytesPerSecond,
      lost_s: Math.max(0, startBytes - this.#startBytes - receivedBytes) / this.#bytesPerSecond,
    };
    this.#session = session;
    this.#startBytes = startBytes;
    this.#sentBytes = 0;
    return { part: { session, next: this.#follow(session) }, event };
  }
}

/** Whether a later attempt may succeed. A WebSocket does not show why it was refused, and `token` may throw anything. */
function isTemporary(error: unknown): boolean {
  if (error instanceof SessionEndedError) return lostCodes.includes(error.code);
  if (error instanceof ApiError) return error.status === 429 || retried.includes(error.status);
  return true;
}
