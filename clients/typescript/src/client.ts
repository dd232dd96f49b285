import { NoAnswerError, readError } from './errors.ts';
import { type Recording, readRecording } from './recording.ts';
import type { CognitiveReport, EmotionReport, Report } from './reports.ts';
import { withRetries } from './retry.ts';

export type ClientOptions = {
  /** Where the service is, such as `http://127.0.0.1:8080`. */
  readonly url: string | URL;
  readonly token: string;
  /** Longest that one attempt may take; 60 s when left out. */
  readonly timeoutMs?: number;
  /** Retries after 500, 502, 503, 504 or a lost connection; 3 by default. */
  readonly retries?: number;
};

export type AnalyzeOptions = {
  /** The same speaker at rest: makes the cognitive signals relative. */
  readonly baseline?: Recording;
  /** Counted from 0: this channel instead of the average of all. */
  readonly channel?: number;
  /** Entries of the timeline: utterances, or the windows that the scores are means of; utterances when left out. */
  readonly timeline?: 'utterances' | 'windows';
  /** Ends the call, retries included. */
  readonly signal?: AbortSignal;
  /** In place of the client's. */
  readonly timeoutMs?: number;
};

/** Calls throw ValidationError, ApiError or NoAnswerError. */
export type Client = {
  /** Both reports from one pass. */
  analyze(audio: Recording, options?: AnalyzeOptions): Promise<Report>;
  emotion(audio: Recording, options?: AnalyzeOptions): Promise<EmotionReport>;
  cognitive(audio: Recording, options?: AnalyzeOptions): Promise<CognitiveReport>;
};

export function createClient(options: ClientOptions): Client {
  const call = <Answer>(path: string, audio: Recording, how: AnalyzeOptions = {}) =>
    post<Answer>(path, audio, { ...options, ...how });
  return {
    analyze: (audio, how) => call<Report>('v1/analyze', audio, how),
    emotion: (audio, how) => call<EmotionReport>('v1/analyze/emotion', audio, how),
    cognitive: (audio, how) => call<CognitiveReport>('v1/analyze/cognitive', audio, how),
  };
}

async function post<Answer>(
  path: string,
  audio: Recording,
  options: ClientOptions & AnalyzeOptions,
): Promise<Answer> {
  const { url, token, retries = 3, signal } = options;
  const request = {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}` },
    body: await makeForm(audio, options),
  };
  const place = new URL(path, `${String(url).replace(/\/*$/, '')}/`);
  const response = await withRetries(() => send(place, request, options), { retries, signal });
  if (!response.ok) throw await readError(response);
  return (await response.json()) as Answer;
}

async function makeForm(
  audio: Recording,
  { baseline, channel, timeline }: AnalyzeOptions,
): Promise<FormData> {
  const form = new FormData();
  form.append('audio', await readRecording(audio));
  if (baseline !== undefined) form.append('baseline', await readRecording(baseline));
  if (channel !== undefined) form.append('channel', String(channel));
  if (timeline !== undefined) form.append('timeline', timeline);
  return form;
}

/** The body of an answer is small, and read within the same time. */
async function send(place: URL, request: RequestInit, options: AnalyzeOptions): Promise<Response> {
  const { signal, timeoutMs = 60_000 } = options;
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
