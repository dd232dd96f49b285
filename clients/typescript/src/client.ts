import { ApiError, ValidationError } from './errors.ts';
import { makeForm } from './form.ts';
import { createJobs, type Jobs } from './jobs.ts';
import { type Open, openReconnecting } from './reconnect.ts';
import { type Recording, readRecording } from './recording.ts';
import type {
  ChannelsReport,
  EmbeddingReport,
  JobResult,
  Report,
  Signal,
  SignalReports,
  SpeakersReport,
  StreamToken,
  StreamTokenRequest,
  Usage,
} from './reports.ts';
import { baseOf, defaultTimeoutMs, request, toJson } from './request.ts';
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
  readonly token?: string | undefined;
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
  /** The same speaker at rest, up to five recordings: makes the cognitive signals relative. */
  readonly baseline?: Recording | readonly Recording[];
  /** Counted from 0: this channel instead of the average of all. */
  readonly channel?: number;
  /** Counted from 0: this audio track instead of the one that the file marks as default, or else the first that decodes. */
  readonly track?: number;
  /** Adds a signed `receipt` to the report. */
  readonly receipt?: boolean;
};

export type StreamOptions = {
  /** A token of `createStreamToken`, or what returns one for each session; without it, the client requests them with its own token. */
  readonly token?: string | (() => string | Promise<string>);
  /**
   * Opens a new session with the same configuration when one is lost: to a lost connection, a shutdown or an error of the service.
   * Samples sent meanwhile are dropped, and a `reconnected` message says how many. 8 attempts; false by default.
   */
  readonly reconnect?: boolean;
  /** Ends the session without its report. */
  readonly signal?: AbortSignal;
  /** Longest until the session is open, in place of the client's. */
  readonly timeoutMs?: number;
};

export type EmbedOptions = Omit<AnalyzeOptions, 'baseline' | 'receipt'>;
export type ChannelsOptions = Omit<AnalyzeOptions, 'baseline' | 'channel'>;

/** Times in seconds. */
export type SpeakerSegment = { readonly start: number; readonly end: number; readonly speaker: string };

type Speakers =
  /** Who speaks when; a text is RTTM. */
  | { readonly segments: readonly SpeakerSegment[] | string; readonly speakers?: undefined }
  /** Separates 2 to 6 voices on one channel, or as many as `auto` finds. */
  | { readonly speakers: 'auto' | '2' | '3' | '4' | '5' | '6'; readonly segments?: undefined };

export type SpeakersOptions = Omit<AnalyzeOptions, 'baseline'> & Speakers;

export type FormOptions = AnalyzeOptions & {
  readonly [Name in keyof Speakers]?: Speakers[Name] | undefined;
} & { readonly channels?: 'split' };

type SignalMethod<S extends Signal> = (
  audio: Recording,
  options?: AnalyzeOptions,
) => Promise<SignalReports[S]>;
/** A method per signal, which returns its report. */
type SignalMethods = { readonly [S in Signal]: SignalMethod<S> };

/** Calls throw ApiError and its subclasses, NoAnswerError, JobFailedError or SessionEndedError. */
export type Client = SignalMethods & {
  /**
   * Both reports from one pass. A recording above the limits of a request is analysed as a job, by this call and the next two:
   * it may take minutes, and the job is deleted at the end.
   */
  analyze(audio: Recording, options?: AnalyzeOptions): Promise<Report>;
  /** One report per channel of a recording with two, and their conversation. */
  analyzeChannels(audio: Recording, options?: ChannelsOptions): Promise<ChannelsReport>;
  /** One report per speaker: of a diarizer or a transcript, or of voices on one channel. */
  analyzeSpeakers(audio: Recording, options: SpeakersOptions): Promise<SpeakersReport>;
  /** Embeddings of the recording and of its utterances; needs the scope `embed`. */
  embed(audio: Recording, options?: EmbedOptions): Promise<EmbeddingReport>;
  /** Long recordings and lists, analysed in the background. */
  readonly jobs: Jobs;
  /** Requests, errors and seconds of audio of the client's token, per day. */
  usage(options?: CallOptions): Promise<Usage>;
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
    request<Answer>(path, { method: 'POST', body: await makeForm(audio, how) }, { ...options, ...how });
  const ofSignal =
    <S extends Signal>(signal: S): SignalMethod<S> =>
    (audio, how) =>
      analyze<SignalReports[S]>(`v1/analyze/${signal}`, audio, how);
  const jobs = createJobs(options);
  const analyzeAny = async <Answer>(audio: Recording, how: FormOptions = {}): Promise<Answer> => {
    const baselines = how.baseline === undefined ? [] : [how.baseline].flat();
    const form = {
      ...how,
      baseline: await Promise.all(baselines.map((one) => readRecording(one, 'baseline'))),
    };
    const recording = await readRecording(audio, 'audio');
    try {
      return await analyze<Answer>('v1/analyze', recording, form);
    } catch (error) {
      if (!isAboveLimit(error)) throw error;
      return (await analyzeAsJob(jobs, recording, form, error)) as Answer;
    }
  };
  const createStreamToken: Client['createStreamToken'] = (scopes = {}, how = {}) =>
    request('v1/stream/tokens', { method: 'POST', ...toJson(scopes) }, { ...options, ...how });
  return {
    analyze: (audio, how) => analyzeAny<Report>(audio, how),
    analyzeChannels: (audio, how) => analyzeAny<ChannelsReport>(audio, { ...how, channels: 'split' }),
    analyzeSpeakers: async (audio, how) => {
      const { segments, speakers } = how as FormOptions;
      if ((segments === undefined) === (speakers === undefined)) {
        const got = segments === undefined ? 'neither' : 'both';
        throw new TypeError(`Expected \`segments\` or \`speakers\`, got ${got}`);
      }
      return analyzeAny<SpeakersReport>(audio, how);
    },
    emotion: ofSignal('emotion'),
    cognitive: ofSignal('cognitive'),
    embed: (audio, how) => analyze<EmbeddingReport>('v1/embed', audio, how),
    jobs,
    usage: (how) => request<Usage>('v1/usage', {}, { ...options, ...how }),
    createStreamToken,
    stream: async <const Config extends StreamConfig>(config: Config, how: StreamOptions = {}) => {
      const { token, signal, reconnect = false, timeoutMs = options.timeoutMs ?? defaultTimeoutMs } = how;
      if (reconnect && typeof token === 'string')
        throw new TypeError('Expected a function for `token` with `reconnect`, got a token for one session');
      const [url, WebSocket] = [baseOf(options), options.WebSocket ?? globalWebSocket()];
      const open: Open<ReportOf<Config>> = async (signal, retries = options.retries ?? 3) => {
        const call = { retries, timeoutMs, ...(signal === undefined ? {} : { signal }) };
        const request = async () => (await createStreamToken({}, call)).token;
        const streamToken = typeof token === 'string' ? token : await (token ?? request)();
        return openSession(config, { url, token: streamToken, WebSocket, timeoutMs, signal });
      };
      return reconnect ? openReconnecting(open, config, signal) : open(signal);
    },
  };
}

const limits: readonly string[] = ['value_error.audio.too_long', 'value_error.audio.too_large'];

function isAboveLimit(error: unknown): boolean {
  return error instanceof ValidationError && error.items.some(({ type }) => limits.includes(type));
}

/** @throws `error` where the service takes no jobs, or not with this token */
async function analyzeAsJob(jobs: Jobs, audio: Blob, how: FormOptions, error: unknown): Promise<JobResult> {
  const { id } = await jobs.submit(audio, how).catch((refusal: unknown) => {
    const isRefused = refusal instanceof ApiError && [403, 501].includes(refusal.status);
    throw isRefused ? error : refusal;
  });
  try {
    return await jobs.wait(id, how);
  } finally {
    // Also where the call was aborted.
    await jobs.cancel(id).catch(() => {});
  }
}

function globalWebSocket(): WebSocketConstructor {
  const { WebSocket } = globalThis as { readonly WebSocket?: WebSocketConstructor };
  if (WebSocket !== undefined) return WebSocket;
  throw new TypeError(
    'Expected the option `WebSocket` in Node before 22, got none: pass that of the package ws',
  );
}
