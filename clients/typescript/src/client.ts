import { NoAnswerError, readError } from './errors.ts';
import { type Recording, readRecording } from './recording.ts';
import type {
  ChannelsReport,
  CognitiveReport,
  EmotionReport,
  Report,
  SpeakersReport,
  StreamToken,
  StreamTokenRequest,
} from './reports.ts';
import { withRetries } from './retry.ts';
import {
  openSession,
  type ReportOf,
  type StreamConfig,
  type StreamSession,
  type WebSocketConstructor,
} from './stream.ts';

export type ClientOptions = {
  /** Where the service is, such as `http://127.0.0.1:8080`. */
  readonly url: string | URL;
  /** Not needed by a page that only opens sessions with tokens of its server. */
  readonly token?: string;
  /** Longest that one attempt may take; 60 s when left out. */
  readonly timeoutMs?: number;
  /** Retries after 500, 502, 503, 504 or a lost connection; 3 by default. */
  readonly retries?: number;
  /** The global one when left out: that of a browser, or of Node 22 and later. */
  readonly WebSocket?: WebSocketConstructor;
};

export type CallOptions = {
  /** Ends the call, retries included. */
  readonly signal?: AbortSignal;
  /** In place of the client's. */
  readonly timeoutMs?: number;
};

export type AnalyzeOptions = CallOptions & {
  /** The same speaker at rest: makes the cognitive signals relative. */
  readonly baseline?: Recording;
  /** Counted from 0: this channel instead of the average of all. */
  readonly channel?: number;
  /** Entries of the timeline: utterances, or the windows that the scores are means of; utterances when left out. */
  readonly timeline?: 'utterances' | 'windows';
};

export type StreamOptions = {
  /** A token of `createStreamToken`; without it, the client requests one with its own token. */
  readonly token?: string;
  /** Ends the session without its report. */
  readonly signal?: AbortSignal;
  /** Longest until the session is open, in place of the client's. */
  readonly timeoutMs?: number;
};

export type ChannelsOptions = Omit<AnalyzeOptions, 'baseline' | 'channel'>;

/** Times in seconds. */
export type SpeakerSegment = { readonly start: number; readonly end: number; readonly speaker: string };

export type SpeakersOptions = Omit<AnalyzeOptions, 'baseline'> & {
  /** Who speaks when; a text is RTTM. */
  readonly segments: readonly SpeakerSegment[] | string;
};

type FormOptions = AnalyzeOptions & Partial<SpeakersOptions> & { readonly channels?: 'split' };

const defaultTimeoutMs = 60_000;

/** Calls throw ValidationError, ApiError, NoAnswerError or SessionEndedError. */
export type Client = {
  /** Both reports from one pass. */
  analyze(audio: Recording, options?: AnalyzeOptions): Promise<Report>;
  /** One report per channel of a recording with two, and their conversation. */
  analyzeChannels(audio: Recording, options?: ChannelsOptions): Promise<ChannelsReport>;
  /** One report per speaker of a diarizer or a transcript. */
  analyzeSpeakers(audio: Recording, options: SpeakersOptions): Promise<SpeakersReport>;
  emotion(audio: Recording, options?: AnalyzeOptions): Promise<EmotionReport>;
  cognitive(audio: Recording, options?: AnalyzeOptions): Promise<CognitiveReport>;
  /** Opens a live session. */
  stream<const Config extends StreamConfig>(
    config: Config,
    options?: StreamOptions,
  ): Promise<StreamSession<ReportOf<Config>>>;
  /** A token for one live session of a page, which opens it within 60 s. */
  createStreamToken(request?: StreamTokenRequest, options?: CallOptions): Promise<StreamToken>;
};

export function createClient(options: ClientOptions): Client {
  const analyze = async <Answer>(path: string, audio: Recording, how: FormOptions = {}) =>
    post<Answer>(path, { body: await makeForm(audio, how) }, { ...options, ...how });
  const createStreamToken: Client['createStreamToken'] = (request = {}, how = {}) =>
    post('v1/stream/tokens', toJson(request), { ...options, ...how });
  return {
    analyze: (audio, how) => analyze<Report>('v1/analyze', audio, how),
    analyzeChannels: (audio, how) =>
      analyze<ChannelsReport>('v1/analyze', audio, { ...how, channels: 'split' }),
    analyzeSpeakers: (audio, how) => analyze<SpeakersReport>('v1/analyze', audio, how),
    emotion: (audio, how) => analyze<EmotionReport>('v1/analyze/emotion', audio, how),
    cognitive: (audio, how) => analyze<CognitiveReport>('v1/analyze/cognitive', audio, how),
    createStreamToken,
    stream: async (config, { token, signal, timeoutMs = options.timeoutMs ?? defaultTimeoutMs } = {}) => {
      const WebSocket = options.WebSocket ?? globalWebSocket();
      const how = { timeoutMs, ...(signal === undefined ? {} : { signal }) };
      const own = token ?? (await createStreamToken({}, how)).token;
      return openSession(config, { url: baseOf(options), token: own, WebSocket, timeoutMs, signal });
    },
  };
}

function globalWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { readonly WebSocket?: WebSocketConstructor };
  if (WebSocket !== undefined) return WebSocket;
  throw new TypeError(
    'Expected the option `WebSocket` in Node before 22, got none: pass that of the package ws',
  );
}

function baseOf({ url }: ClientOptions): URL {
  return new URL(`${String(url).replace(/\/*$/, '')}/`);
}

function toJson(value: object): RequestInit {
  return { body: JSON.stringify(value), headers: { 'Content-Type': 'application/json' } };
}

async function post<Answer>(
  path: string,
  content: RequestInit,
  options: ClientOptions & CallOptions,
): Promise<Answer> {
  const { token, retries = 3, signal } = options;
  const headers = {
    ...content.headers,
    ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
  };
  const request = { ...content, method: 'POST', headers };
  const place = new URL(path, baseOf(options));
  const response = await withRetries(() => send(place, request, options), { retries, signal });
  if (!response.ok) throw await readError(response);
  return (await response.json()) as Answer;
}

async function makeForm(
  audio: Recording,
  { baseline, channel, channels, segments, timeline }: FormOptions,
): Promise<FormData> {
  const form = new FormData();
  form.append('audio', await readRecording(audio));
  if (baseline !== undefined) form.append('baseline', await readRecording(baseline));
  if (channel !== undefined) form.append('channel', String(channel));
  if (channels !== undefined) form.append('channels', channels);
  if (segments !== undefined) {
    form.append('segments', typeof segments === 'string' ? segments : JSON.stringify(segments));
  }
  if (timeline !== undefined) form.append('timeline', timeline);
  return form;
}

/** The body of an answer is small, and read within the same time. */
async function send(place: URL, request: RequestInit, options: CallOptions): Promise<Response> {
  const { signal, timeoutMs = defaultTimeoutMs } = options;
  const over = new AbortController();
  const late = new NoAnswerError(`Expected an answer within ${timeoutMs} ms from ${place.origin}, got none`);
  const timer = setTimeout(() => over.abort(late), timeoutMs);
  const end = () => over.abort(signal?.reason);
  signal?.addEventListener('abort', end, { once: true });
  if (signal?.aborted) end();
  try {
    const response = await fetch(place, { ...request, signal: over.signal });
    return new Response(await response.arrayBuffer(), response);
  } catch (cause) {
    if (over.signal.aborted) throw over.signal.reason;
    throw new NoAnswerError(`Expected an answer from ${place.origin}, got none`, { cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}
