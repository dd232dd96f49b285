/** One live session: samples -> messages and a report. */
import {
  type ErrorBody,
  NoAnswerError,
  SessionEndedError,
  toApiError,
  type UndertoneError,
} from './errors.ts';
import type { ChannelsReport, Report, Signal, SignalReports, SpeakersReport } from './reports.ts';
import type { components } from './schema.ts';

type Schemas = components['schemas'];

/** Format of the samples and requested signals. */
export type StreamConfig = Omit<Schemas['SessionConfigureMessage'], 'type'>;

/**
 * The report of a session that requests one signal is the report of that signal; with `split`, one per channel; with `speakers`, one per
 * voice. Where the type of `config` leaves one of them open, it is any of these.
 */
export type ReportOf<Config extends StreamConfig> = Config extends { readonly split: true }
  ? ChannelsReport
  : Config extends { readonly speakers: NonNullable<StreamConfig['speakers']> }
    ? SpeakersReport
    : Config extends { readonly signals: infer Signals }
      ? Signals extends readonly [infer S extends Signal]
        ? SignalReports[S]
        : Report | SignalReports[Signal] | Open<Config>
      : Report | Open<Config>;

/** Of a config that may have `split` or `speakers`. */
type Open<Config> =
  | ('split' extends keyof Config ? ChannelsReport : never)
  | ('speakers' extends keyof Config ? SpeakersReport : never);

/** A message of the service; an error is thrown instead. */
export type StreamMessage<R = Report> =
  | Schemas['SessionReadyMessage']
  | Schemas['SpeechStartedMessage']
  | Schemas['SpeechEndedMessage']
  | Schemas['MeasurementMessage']
  | Schemas['TurnMessage']
  | (Omit<Schemas['FinalMessage'], 'report'> & { readonly report: R })
  | Schemas['SessionEndedMessage']
  | Reconnected;

/**
 * With `reconnect`: a new session follows a lost one. It is a message of the client, without `seq`. Times, utterances and speakers of
 * later messages begin anew.
 */
export type Reconnected = {
  readonly type: 'reconnected';
  /** Why the earlier session ended. */
  readonly error: UndertoneError;
  /** Seconds of audio before the new session, lost ones included: added to later times, they count from the first sample. */
  readonly offset_s: number;
  /** Seconds of audio since the previous session began that no session received; of a lost connection, not what was on its way. */
  readonly lost_s: number;
};

/** Iteration yields the messages until the session is over. It throws when there is no report. */
export type StreamSession<R = Report> = AsyncIterable<StreamMessage<R>> & {
  /** Sends samples, which may be cut anywhere. Resolves when the connection accepts more. */
  send(samples: ArrayBuffer | ArrayBufferView): Promise<void>;
  /** The service returns the utterance that is still open, as provisional. */
  turnEnd(): void;
  /** Ends the audio. Resolves with the report. */
  end(): Promise<R>;
};

/** The members of a WebSocket that a session uses: of the global one, or of the package ws. */
export type Socket = {
  readonly bufferedAmount: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(): void;
  addEventListener(type: 'open', listener: () => void): void;
  addEventListener(type: 'error', listener: (event: object) => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(
    type: 'close',
    listener: (event: { readonly code: number; readonly reason: string }) => void,
  ): void;
};
export type WebSocketConstructor = new (url: URL, protocols: string[]) => Socket;

export type Connection = {
  /** Of the service; ends in `/`. */
  readonly url: URL;
  /** Of POST /v1/stream/tokens. */
  readonly token: string;
  readonly WebSocket: WebSocketConstructor;
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
};

const maxFrameBytes = 2 ** 20;
/** Sent and not transmitted, above which `send` waits. */
const maxBufferedBytes = 256 * 1024;
const drainPollMs = 20;

/** Resolves when the session is configured. */
export async function openSession<R>(config: StreamConfig, connection: Connection): Promise<Session<R>> {
  const { url, token, WebSocket, timeoutMs, signal } = connection;
  const place = new URL('v1/stream', url);
  place.protocol = place.protocol.replace('http', 'ws');
  const session = new Session<R>(new WebSocket(place, ['undertone.v1', token]), config, url.origin);
  const late = new NoAnswerError(`Expected a session within ${timeoutMs} ms from ${url.origin}, got none`);
  const timer = setTimeout(() => session.abort(late), timeoutMs);
  const abort = () => session.abort(signal?.reason);
  signal?.addEventListener('abort', abort, { once: true });
  session.over.finally(() => signal?.removeEventListener('abort', abort)).catch(() => {});
  if (signal?.aborted) abort();
  await session.ready.finally(() => clearTimeout(timer));
  return session;
}

export class Session<R> implements StreamSession<R> {
  /** Resolves with the first message. */
  readonly ready: Promise<void>;
  /** Resolves with the report when the session is over. */
  readonly over: Promise<R>;
  /** Close code of the WebSocket; undefined while it is open, and after an abort. */
  closeCode: number | undefined;
  /** Audio that the service received, where it said so. */
  receivedSeconds: number | undefined;
  readonly #socket: Socket;
  readonly #origin: string;
  readonly #messages: ReadableStreamDefaultReader<StreamMessage<R>>;
  #queue!: ReadableStreamDefaultController<StreamMessage<R>>;
  #onReady!: () => void;
  #resolve!: (report: R) => void;
  #reject!: (error: unknown) => void;
  #report: R | undefined;
  #failure: unknown;
  /** Error of `send`; not undefined once the session is over. */
  #ended: unknown;
  #keepAlive: ReturnType<typeof setInterval> | undefined;
  #isEnding = false;
  #isIdle = false;

  constructor(socket: Socket, config: StreamConfig, origin: string) {
    this.#socket = socket;
    this.#origin = origin;
    const messages = new ReadableStream<StreamMessage<R>>({
      start: (controller) => {
        this.#queue = controller;
      },
    });
    this.#messages = messages.getReader();
    this.over = new Promise((resolve, reject) => {
      [this.#resolve, this.#reject] = [resolve, reject];
    });
    this.over.catch(() => {});
    this.ready = new Promise((resolve, reject) => {
      this.#onReady = resolve;
      this.over.catch(reject);
    });
    socket.addEventListener('open', () => this.#sendMessage({ type: 'session.configure', ...config }));
    socket.addEventListener('message', ({ data }) => this.#onMessage(JSON.parse(String(data))));
    socket.addEventListener('error', (event) => this.#onError(event));
    socket.addEventListener('close', ({ code, reason }) => this.#onClose(code, reason));
  }

  async send(samples: ArrayBuffer | ArrayBufferView): Promise<void> {
    if (this.#ended !== undefined) throw this.#ended;
    const bytes = toBytes(samples);
    for (let at = 0; at < bytes.length; at += maxFrameBytes) {
      this.#socket.send(bytes.subarray(at, at + maxFrameBytes));
    }
    this.#isIdle = false;
    while (this.#ended === undefined && this.#socket.bufferedAmount > maxBufferedBytes) {
      await new Promise((resolve) => setTimeout(resolve, drainPollMs));
    }
    if (this.#ended !== undefined) throw this.#ended;
  }

  turnEnd(): void {
    if (this.#ended !== undefined) throw this.#ended;
    this.#sendMessage({ type: 'turn.end' });
  }

  end(): Promise<R> {
    if (!this.#isEnding && this.#ended === undefined) this.#sendMessage({ type: 'session.end' });
    this.#isEnding = true;
    return this.over;
  }

  /** Error of `send`; undefined while the session is open. */
  get ended(): unknown {
    return this.#ended;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<StreamMessage<R>> {
    for (;;) {
      const { done, value } = await this.#messages.read();
      if (done) break;
      yield value;
    }
    if (this.#report === undefined && this.#failure !== undefined) throw this.#failure;
  }

  /** Ends the session without its report. */
  abort(reason: unknown): void {
    this.#failure ??= reason;
    this.#finish(reason);
    this.#socket.close();
  }

  #sendMessage(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  #onMessage(message: StreamMessage<R> | Schemas['ErrorMessage']): void {
    if (this.#ended !== undefined) return;
    if (message.type === 'error') {
      const { status, request_id } = message;
      this.#failure = toApiError(status, message as ErrorBody, request_id);
      return;
    }
    this.#queue.enqueue(message);
    if (message.type === 'session.ready') this.#onConfigured(message.limits.idle_s);
    if (message.type === 'final') this.#report = message.report;
    if (message.type === 'session.ended') this.receivedSeconds = message.audio_s;
  }

  #onConfigured(idleSeconds: number): void {
    this.#onReady();
    this.#keepAlive = setInterval(
      () => {
        if (this.#isIdle && !this.#isEnding) this.#sendMessage({ type: 'keep_alive' });
        this.#isIdle = true;
      },
      (1000 * idleSeconds) / 4,
    );
  }

  #onError(event: object): void {
    const cause = 'error' in event ? event.error : event;
    const message = `Expected an open session from ${this.#origin}, got a refused or lost connection`;
    this.#failure ??= new NoAnswerError(message, { cause });
  }

  #onClose(code: number, reason: string): void {
    const isLost = code === 1006;
    if (isLost) this.#onError({ error: undefined });
    const ended = new SessionEndedError(code, reason);
    if (this.#report === undefined) this.#failure ??= ended;
    if (this.#ended === undefined) this.closeCode = code;
    this.#finish(this.#failure ?? ended);
  }

  #finish(ended: unknown): void {
    if (this.#ended !== undefined) return;
    this.#ended = ended;
    clearInterval(this.#keepAlive);
    this.#queue.close();
    if (this.#report !== undefined) this.#resolve(this.#report);
    else this.#reject(this.#failure);
  }
}

export function toBytes(samples: ArrayBuffer | ArrayBufferView): Uint8Array<ArrayBuffer> {
  const view =
    samples instanceof ArrayBuffer
      ? { buffer: samples, byteOffset: 0, byteLength: samples.byteLength }
      : samples;
  return new Uint8Array(view.buffer as ArrayBuffer, view.byteOffset, view.byteLength);
}
