/** One session: messages of the client -> steps and the report on the worker pool -> messages to the client. */
import { frameBytesOf, noVoiceMessage, type SampleFormat } from '../../engine/index.ts';
import { signals as allSignals, type versionOf } from '../../engine/schema.ts';
import { type Scope, scopeOf } from '../auth/tokens.ts';
import { errorJson, httpStatus, invalidPart, ServiceError } from '../errors.ts';
import { createTokenBucket, type Reservation } from '../fair-share.ts';
import type { SerializedState } from '../workers/live-state.ts';
import {
  type CloseReason,
  closeCodes,
  maxControlFrames,
  maxFrameBytes,
  maxPendingSeconds,
  maxSessionBytes,
  maxSmallFrames,
  parseClientMessage,
  type SessionConfig,
} from './protocol.ts';
import { createRecording, type Recording } from './recording.ts';
import { createSchedule, type Schedule, type Step } from './schedule.ts';
import type { TaskRunner } from './tasks.ts';

/** State of a configured session. */
type Stream = {
  readonly config: SessionConfig;
  readonly format: SampleFormat;
  readonly recording: Recording;
  readonly schedule: Schedule;
  readonly maxBytes: number;
};

/** Messages of the client: so many at once, and so many per second. */
const maxMessages = 100;
const messagesPerSecond = 20;

/** A session lasts so many times its most audio: clients may wait between turns. */
const lifetimeFactor = 2;
const maxTimerMs = 2 ** 31 - 1;
const expectedSamples = 'Expected samples for `audio`, got none';

export class LiveSession {
  readonly #options: SessionOptions;
  #idle: NodeJS.Timeout;
  /** Nothing has arrived since the time of `#idle` was over. */
  #silent = false;
  readonly #lifetime: NodeJS.Timeout;
  readonly #messages = createTokenBucket(maxMessages, messagesPerSecond);
  #stream: Stream | null = null;
  /** After the last step; null before the first. */
  #state: SerializedState | null = null;
  /** The memory of the state before, which the next step may overwrite. */
  #spare: SharedArrayBuffer | null = null;
  #due: (Step & { readonly arrivedAt: number })[] = [];
  #bytes = 0;
  #turnEndedAt = 0;
  #seq = 0;
  #paused = false;
  /** By `keep_alive`, since the last audio. */
  #kept = false;
  #working = false;
  #ending: CloseReason | null = null;
  #closed = false;

  constructor(options: SessionOptions) {
    this.#options = options;
    const { configureMs, maxSeconds } = options.limits;
    this.#idle = setTimeout(() => this.#onIdle(), configureMs).unref();
    const lifetimeMs = Math.min(maxTimerMs, 1000 * maxSeconds * lifetimeFactor);
    this.#lifetime = setTimeout(() => this.#end('tooLong'), lifetimeMs).unref();
  }

  onText(text: string): void {
    if (this.#isOver()) return;
    this.#attempt(() => {
      this.#countMessage();
      this.#onMessage(text);
    });
  }

  onAudio(bytes: Uint8Array): void {
    if (!this.#isOver()) this.#attempt(() => this.#receive(bytes));
  }

  /** Ends the session without its report, because the client sends too many frames. */
  onFlood(): void {
    const control = `${maxControlFrames.size} control frames at once and ${maxControlFrames.perSecond} per second`;
    const { bytes, size, perSecond } = maxSmallFrames;
    const small = `${size} frames under ${bytes} bytes at once and ${perSecond} per second`;
    this.#fail(new ServiceError('rate_limited', `Expected at most ${control}, and ${small}, got more`));
  }

  /** Ends the session with its report. */
  drain(): void {
    this.#end('draining');
  }

  /** Ends the session without its report. */
  abort(): void {
    this.#close('draining');
  }

  /** Ends the session without its report, because its token was revoked. */
  revoke(): void {
    this.#fail(
      new PolicyError('unauthenticated', 'Expected a valid token for the session, got one that was revoked'),
    );
  }

  /** Ends the session with its report, because its token has expired. */
  expire(): void {
    this.#end('policy');
  }

  /** Releases everything. Call when the connection has closed. */
  onClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#idle);
    clearTimeout(this.#lifetime);
    this.#options.tasks.cancel();
    this.#options.memory.release();
    const seconds = this.#seconds();
    this.#stream = null;
    this.#state = null;
    this.#spare = null;
    this.#due = [];
    this.#options.onClosed(seconds);
  }

  /** Duration of the received audio. */
  #seconds(): number {
    const { config } = this.#stream ?? {};
    return config === undefined ? 0 : this.#bytes / frameBytesOf(config) / config.sample_rate_hz;
  }

  #isOver(): boolean {
    return this.#closed || this.#ending !== null;
  }

  #attempt(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.#fail(error);
    }
  }

  #receive(bytes: Uint8Array): void {
    const stream = this.#requireStream();
    if (bytes.length > 0) {
      this.#wake();
      if (this.#kept) this.#kept = this.#options.keep(false);
    }
    const accepted = bytes.subarray(0, stream.maxBytes - this.#bytes);
    if (!this.#options.memory.add(accepted.length)) {
      this.#end('overloaded');
      return;
    }
    this.#append(stream, accepted);
    if (accepted.length < bytes.length) this.#end('tooLong');
    this.#throttle();
    this.#work();
  }

  #requireStream(): Stream {
    if (this.#stream !== null) return this.#stream;
    throw new PolicyError('bad_request', 'Expected `session.configure` as the first message, got another');
  }

  #countMessage(): void {
    if (this.#messages.take() === 0) return;
    const limit = `at most ${maxMessages} messages at once and ${messagesPerSecond} per second`;
    throw new ServiceError('rate_limited', `Expected ${limit}, got more`);
  }

  #onMessage(text: string): void {
    const message = parseClientMessage(text);
    if (message.type === 'session.configure') this.#configure(message);
    else if (message.type === 'session.end') this.#end('done');
    else if (message.type === 'turn.end') this.#endTurn(this.#requireStream());
    else if (this.#stream !== null) this.#keepAlive();
  }

  #keepAlive(): void {
    this.#kept = this.#options.keep(true);
    if (this.#kept) this.#wake();
  }

  /** Nothing ends twice at the same sample. */
  #endTurn({ recording }: Stream): void {
    if (recording.frames() === this.#turnEndedAt) return;
    this.#turnEndedAt = recording.frames();
    this.#force('turn.end');
    this.#work();
  }

  #configure(config: SessionConfig): void {
    if (this.#stream !== null) {
      throw new PolicyError('bad_request', 'Expected one `session.configure`, got a second one');
    }
    const { limits, models, requestId, scopes } = this.#options;
    checkConfig(config, scopes);
    if (config.speakers !== undefined && !models.some(({ name }) => name === 'voice'))
      throw new ServiceError('invalid', noVoiceMessage);
    const bytesPerSecond = frameBytesOf(config) * config.sample_rate_hz;
    const maxSeconds = Math.min(limits.maxSeconds, Math.floor(maxSessionBytes / bytesPerSecond));
    const maxBytes = Math.floor(maxSeconds * config.sample_rate_hz) * frameBytesOf(config);
    const { encoding, sample_rate_hz: sampleRate, channels } = config;
    const format = { encoding, sampleRate, channels };
    const [recording, schedule] = [createRecording(format), createSchedule(config)];
    this.#stream = { config, format, recording, schedule, maxBytes };
    clearTimeout(this.#idle);
    this.#idle = setTimeout(() => this.#onIdle(), limits.idleMs).unref();
    this.#silent = false;
    this.#send('session.ready', {
      request_id: requestId,
      limits: { max_seconds: maxSeconds, idle_s: limits.idleMs / 1000, max_frame_bytes: maxFrameBytes },
      models,
    });
  }

  #append({ config, recording, schedule }: Stream, bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    recording.append(bytes);
    this.#options.metrics.audio(bytes.length / frameBytesOf(config) / config.sample_rate_hz);
    this.#push(schedule.advance(recording.frames()));
  }

  /** Ends the utterance at the last sample, unless there is none. */
  #force(cause: NonNullable<Step['cause']>): void {
    const { recording, schedule } = this.#stream ?? {};
    if (recording && schedule && recording.frames() > 0)
      this.#push([schedule.force(recording.frames(), cause)]);
  }

  #push(steps: readonly Step[]): void {
    const arrivedAt = performance.now();
    this.#due.push(...steps.map((step) => ({ ...step, arrivedAt })));
  }

  /** Does not read from the socket while more than `maxPendingSeconds` are unprocessed. */
  #throttle(): void {
    if (this.#stream === null) return;
    const { config, recording } = this.#stream;
    const next = this.#due[0]?.end ?? recording.frames();
    const isBehind = recording.frames() - next > maxPendingSeconds * config.sample_rate_hz;
    const paused = isBehind && this.#ending === null;
    if (paused === this.#paused) return;
    this.#paused = paused;
    this.#idle.refresh();
    if (paused) this.#options.connection.pause();
    else this.#options.connection.resume();
  }

  #wake(): void {
    this.#silent = false;
    this.#idle.refresh();
  }

  #onIdle(): void {
    if (this.#paused) {
      this.#idle.refresh();
      return;
    }
    this.#silent = true;
    // setImmediate runs after the poll phase, which reads what arrived while the event loop was blocked.
    setImmediate(() => this.#silent && this.#end('idle'));
  }

  #end(reason: CloseReason): void {
    if (this.#isOver()) return;
    this.#ending = reason;
    this.#force('session.end');
    this.#throttle();
    this.#work();
  }

  #work(): void {
    if (this.#working) return;
    this.#working = true;
    void this.#runAll();
  }

  /** Never rejects. The last check for work and the end are one turn of the event loop: no step is left behind. */
  async #runAll(): Promise<void> {
    try {
      for (let step = this.#due[0]; step !== undefined; step = this.#due[0]) {
        await this.#run(step);
        this.#due.shift();
        this.#throttle();
      }
      if (this.#ending !== null && !this.#closed) await this.#finish(this.#ending);
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#working = false;
    }
  }

  async #run({ arrivedAt, start, end, ...step }: Step & { readonly arrivedAt: number }): Promise<void> {
    if (this.#stream === null) return;
    const { config, format, recording } = this.#stream;
    const { signals, split, speakers = null } = config;
    const bytes = recording.slice(start, end);
    const memory = { state: this.#state, spare: this.#spare };
    const request = { ...step, ...memory, format, bytes, signals, split, speakers };
    const output = await this.#options.tasks.step(request);
    if (output === null || this.#closed) return;
    this.#spare = this.#state?.buffer ?? null;
    this.#state = output.state;
    for (const { type, ...fields } of output.messages) this.#send(type, fields);
    this.#options.metrics.step(performance.now() - arrivedAt);
  }

  /** A session that ends for a reason other than the client's has no report without audio. */
  async #finish(reason: CloseReason): Promise<void> {
    const { config, format, recording } = this.#stream ?? {};
    if (config && format && recording && (reason === 'done' || recording.frames() > 0)) {
      if (recording.frames() === 0) throw invalidPart('audio', 'audio.empty', expectedSamples);
      const { signals, split, speakers = null } = config;
      const seconds = recording.frames() / format.sampleRate;
      const request = { format, signals, split, speakers, requestId: this.#options.requestId, seconds };
      const report = await this.#options.tasks.report({ ...request, body: recording.take() });
      if (report === null || this.#closed) return;
      this.#sendText('final', `"report":${report}`);
    }
    this.#close(reason);
  }

  #fail(error: unknown): void {
    if (this.#closed) return;
    const known = error instanceof ServiceError ? error : new ServiceError('internal', 'Internal error');
    if (known !== error) this.#options.onError(error);
    const status = httpStatus(known.code);
    this.#send('error', { status, ...errorJson(known), request_id: this.#options.requestId });
    this.#close(reasonOf(known));
  }

  #close(reason: CloseReason): void {
    if (this.#closed) return;
    this.#send('session.ended', {
      code: closeCodes[reason],
      reason,
      audio_s: Math.floor(1000 * this.#seconds()) / 1000,
    });
    this.#options.metrics.closed(closeCodes[reason]);
    this.onClosed();
    this.#options.connection.close(closeCodes[reason], reason);
  }

  #send(type: string, fields: object): void {
    this.#sendText(type, JSON.stringify(fields).slice(1, -1));
  }

  /** @param fields of a JSON object, without its braces */
  #sendText(type: string, fields: string): void {
    this.#options.metrics.message(type);
    this.#options.connection.send(`{"type":"${type}","seq":${this.#seq++},${fields}}`);
  }
}

// Errors that end a session, and their close codes.

/** A message that is valid, and not permitted here. */
class PolicyError extends ServiceError {}

/** Why a session with the error closes. */
function reasonOf(error: ServiceError): CloseReason {
  if (error instanceof PolicyError) return 'policy';
  switch (error.code) {
    case 'bad_request':
      return 'malformed';
    case 'invalid':
      return 'unusable';
    case 'rate_limited':
      return 'tooMany';
    case 'shutting_down':
      return 'draining';
    case 'overloaded':
    case 'deadline':
      return 'overloaded';
    default:
      return 'internal';
  }
}

/** @throws ServiceError for a signal outside the scopes of the token, and for fields that `split` or `speakers` excludes */
function checkConfig({ split, speakers, channels, signals }: SessionConfig, scopes: readonly Scope[]): void {
  const missing = signals.map(scopeOf).filter((scope) => !scopes.includes(scope));
  if (missing.length > 0) {
    const expected = `scope ${missing.join(' and ')}`;
    throw new PolicyError('forbidden', `Expected ${expected} for \`signals\`, got a token without it`);
  }
  const separate = split ? 'split' : 'speakers';
  if (!split && speakers === undefined) return;
  if (split && channels !== 2)
    throw new ServiceError('invalid', 'Expected 2 for `channels` with `split`, got 1');
  if (split && speakers !== undefined)
    throw new ServiceError('invalid', 'Expected no `speakers` with `split`, got one');
  if (signals.length === allSignals.length) return;
  throw new ServiceError('invalid', `Expected all signals for \`signals\` with \`${separate}\`, got one`);
}

export type Connection = {
  send(text: string): void;
  close(code: number, reason: string): void;
  /** Stops reading from the socket. */
  pause(): void;
  resume(): void;
};

export type ModelVersion = ReturnType<typeof versionOf>;

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
