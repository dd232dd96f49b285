/** A live session: its token, its WebSocket and its messages. docs/streaming.md describes them. */
import { type AnalysisError, type Answer, answerOf } from './analyze.ts';
import type { CognitiveSignals, Emotion, EmotionSignals, Span, Warning } from './report.ts';

export type Measurement = Span & {
  readonly type: 'measurement';
  /** Empty when the models have no emotion. */
  readonly emotion: EmotionSignals | Record<string, never>;
  readonly cognitive: CognitiveSignals;
  readonly warnings: readonly Warning[];
};
export type Turn = Span & {
  readonly type: 'turn';
  /** Null when it may be of several; absent when the models separate no voices. */
  readonly speaker?: string | null;
  /** Absent when the models have no emotion. */
  readonly emotion?: Omit<Emotion['timeline'][number], keyof Span> & {
    /** Present when it sounds more emotional than what came before. */
    readonly moment?: Omit<NonNullable<Emotion['moments']>[number], keyof Span>;
  };
};

export type LiveMessage =
  | { readonly type: 'session.ready' }
  | { readonly type: 'speech.started' | 'speech.ended'; readonly at_s: number }
  | Measurement
  | Turn
  | { readonly type: 'final'; readonly report: Answer['report'] }
  | { readonly type: 'error'; readonly status: number }
  | { readonly type: 'session.ended'; readonly reason: string };

/** `reason` is that of `session.ended`. */
type LiveReport = Answer & { readonly reason: string };

/** Null after an abort. */
export type LiveOutcome = LiveReport | AnalysisError | null;

type LiveSession = {
  /** Keeps the block until the connection is open. */
  send(block: Int16Array<ArrayBuffer>): void;
  /** No more audio: the report follows. */
  end(): void;
  /** Never rejects. */
  readonly ended: Promise<LiveOutcome>;
};

type SessionOptions = {
  readonly token: string;
  readonly sampleRateHz: number;
  readonly separatesVoices: boolean;
  readonly signal: AbortSignal;
  readonly onMessage: (message: LiveMessage) => void;
};

const intervalSeconds = 2;

export function openSession(options: SessionOptions): LiveSession {
  const { sampleRateHz: sample_rate_hz, separatesVoices } = options;
  const configure = { encoding: 's16le', sample_rate_hz, channels: 1, interval_s: intervalSeconds };
  const speakers = separatesVoices ? { speakers: 'auto' } : {};
  let unsent: (string | Int16Array<ArrayBuffer>)[] = [
    message('session.configure', { ...configure, ...speakers }),
  ];
  let socket: WebSocket | null = null;
  const send = (data: string | Int16Array<ArrayBuffer>) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(data);
    else unsent.push(data);
  };
  const run = async (): Promise<LiveOutcome> => {
    const token = await requestToken(options.token);
    if (typeof token !== 'string') return token;
    if (options.signal.aborted) return null;
    socket = new WebSocket(`${location.origin.replace(/^http/, 'ws')}/v1/stream`, ['undertone.v1', token]);
    socket.addEventListener('open', () => {
      const queued = unsent;
      unsent = [];
      for (const data of queued) send(data);
    });
    return readOutcome(socket, options);
  };
  return { send, end: () => send(message('session.end')), ended: run() };
}

function message(type: string, fields: object = {}): string {
  return JSON.stringify({ type, ...fields });
}

async function requestToken(bearer: string): Promise<string | AnalysisError> {
  const headers = { Authorization: `Bearer ${bearer}`, 'Content-Type': 'application/json' };
  const request = { method: 'POST', headers, body: '{}' };
  const response = await fetch('/v1/stream/tokens', request).catch(() => null);
  if (response === null) return { kind: 'unreachable' };
  const body: unknown = await response.json().catch(() => null);
  if (!response.ok) return { kind: 'refused', status: response.status, body };
  return (body as { readonly token: string }).token;
}

/** Resolves when the connection has closed. */
function readOutcome(
  socket: WebSocket,
  { separatesVoices, signal, onMessage }: SessionOptions,
): Promise<LiveOutcome> {
  let outcome: LiveOutcome = { kind: 'lost' };
  socket.addEventListener('message', ({ data }: MessageEvent<string>) => {
    const received = JSON.parse(data) as LiveMessage;
    onMessage(received);
    if (received.type === 'final') {
      const { report } = received;
      const choice = separatesVoices ? 'best' : 'average';
      outcome = { ...answerOf(report, JSON.stringify(report), choice), reason: 'done' };
    } else if (received.type === 'error') {
      outcome = { kind: 'refused', status: received.status, body: received };
    } else if (received.type === 'session.ended' && outcome !== null && 'report' in outcome) {
      outcome = { ...outcome, reason: received.reason };
    }
  });
  return new Promise((resolve) => {
    socket.addEventListener('close', () => resolve(outcome));
    signal.addEventListener('abort', () => {
      socket.close();
      resolve(null);
    });
  });
}
