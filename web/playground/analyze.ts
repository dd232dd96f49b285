/** The upload of a recording: to POST /v1/analyze, or as a job when it is above the limits of a request. */
import type { JobSummary } from '../../src/service/jobs/job-json.ts';
import { type Choice, isOfOne, partsOf } from './choice.ts';
import { loadRules, type Report, type SeveralReport } from './report.ts';

/** A file, or a microphone recording in the format of the browser's encoder. */
export type Recording = { readonly name: string; readonly blob: Blob };

export type AnalysisRequest = {
  readonly recording: Recording;
  readonly baseline: Recording | null;
  readonly choice: Choice;
};

/** `choice`: what was analysed; `best` where that were several voices. */
export type Answer<Kind = Report | SeveralReport> = {
  readonly report: Kind;
  readonly json: string;
  readonly choice: Choice;
};

/** An error response, no response, or a live session that closed without a report. */
export type AnalysisError =
  | { readonly kind: 'refused'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'lost' };

type Outcome = Answer | AnalysisError | null;

type AnalyzeOptions = {
  /** The header `Authorization`, with a token that is valid now: a long job outlasts that of its upload. */
  readonly authorize: () => Promise<string>;
  /** @param sent part of the upload, 0 to 1 @param analysed part of a long recording, 0 to 1; null while it is unknown */
  readonly onProgress: (sent: number, analysed: number | null) => void;
  readonly signal: AbortSignal;
};

/** @returns null after an abort */
export async function analyze(request: AnalysisRequest, options: AnalyzeOptions): Promise<Outcome> {
  const isBest = request.choice === 'best' && request.baseline === null;
  const separatesVoices = isBest && (await loadRules()).separatesVoices;
  if (options.signal.aborted) return null;
  const analysis =
    request.choice === 'best' && !separatesVoices ? { ...request, choice: 'average' as const } : request;
  const outcome = await requestOrJob(analysis, options);
  if (!isBest || !doChannelsDiffer(outcome)) return outcome;
  const channels = await requestOrJob({ ...analysis, choice: 'split' }, options);
  return channels === null || 'report' in channels ? channels : outcome;
}

/** Of one voice, by the second set of models. @returns null after an abort */
export async function analyzeCompared(
  request: AnalysisRequest,
  options: AnalyzeOptions,
): Promise<Answer<Report> | AnalysisError | null> {
  const outcome = outcomeOf(await upload('/playground/compare', request, options), request);
  return outcome as Answer<Report> | AnalysisError | null;
}

async function requestOrJob(analysis: AnalysisRequest, options: AnalyzeOptions): Promise<Outcome> {
  const outcome = outcomeOf(await upload('/v1/analyze', analysis, options), analysis);
  return isAboveLimit(outcome) ? analyzeAsJob(analysis, options, outcome) : outcome;
}

/** The report alone says so: one request cannot ask for two channels where they differ. */
function doChannelsDiffer(outcome: Outcome): boolean {
  if (outcome === null || !('report' in outcome)) return false;
  const { report } = outcome;
  const { emotion } = ('speakers' in report ? report.speakers[0] : report) as Report;
  return report.audio.channels === 2 && emotion.warnings.includes('channels_differ');
}

type Reply = { readonly status: number; readonly text: string };

/** @returns the response; `unreachable` without one, `aborted` after an abort */
async function upload(
  path: string,
  analysis: AnalysisRequest,
  { authorize, onProgress, signal }: AnalyzeOptions,
): Promise<Reply | 'unreachable' | 'aborted'> {
  const authorization = await authorize();
  if (signal.aborted) return 'aborted';
  const request = new XMLHttpRequest();
  request.open('POST', path);
  request.setRequestHeader('Authorization', authorization);
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress(total > 0 ? loaded / total : 0, null),
  );
  request.upload.addEventListener('load', () => onProgress(1, null));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  return new Promise((resolve) => {
    request.addEventListener('load', () => resolve({ status: request.status, text: request.responseText }));
    request.addEventListener('error', () => resolve('unreachable'));
    request.addEventListener('abort', () => resolve('aborted'));
    request.send(form(analysis));
  });
}

function outcomeOf(reply: Reply | 'unreachable' | 'aborted', { choice }: AnalysisRequest): Outcome {
  if (reply === 'aborted') return null;
  if (reply === 'unreachable') return { kind: 'unreachable' };
  const body = parse(reply.text);
  if (reply.status === 200 && body !== null) return answerOf(body as Answer['report'], reply.text, choice);
  return { kind: 'refused', status: reply.status, body };
}

/** One voice has the report that it has without the part `speakers`. */
export function answerOf(report: Answer['report'], json: string, choice: Choice): Answer {
  const [one, other] = choice === 'best' && 'speakers' in report ? report.speakers : [];
  if (one === undefined || other !== undefined) return { report, json, choice };
  const { speaker: _, ...single } = one;
  return { report: single, json: JSON.stringify(single), choice: 'average' };
}

// Recordings above the limits of a request.

type Job = JobSummary & { readonly result: Answer['report'] | null; readonly error: unknown };

const waitSeconds = 10;
const retryMs = 3000;
/** A minute without an answer, or more. */
const maxFailures = 20;

export function isAboveLimit(outcome: Outcome): outcome is AnalysisError {
  if (outcome === null || !('kind' in outcome) || outcome.kind !== 'refused') return false;
  return /"value_error\.audio\.too_(?:long|large)"/.test(JSON.stringify(outcome.body));
}

/** Nothing of the job stays. @returns `refusal` where the service takes no jobs */
async function analyzeAsJob(
  analysis: AnalysisRequest,
  options: AnalyzeOptions,
  refusal: AnalysisError,
): Promise<Outcome> {
  let authorization = '';
  const authorized = { ...options, authorize: async () => (authorization = await options.authorize()) };
  const reply = await upload('/v1/jobs', analysis, authorized);
  if (typeof reply === 'string' || ![202, 403, 501].includes(reply.status)) return outcomeOf(reply, analysis);
  if (reply.status !== 202) return refusal;
  const { id } = JSON.parse(reply.text) as Job;
  const remove = () => {
    const headers = { authorization };
    void fetch(`/v1/jobs/${id}`, { method: 'DELETE', headers, keepalive: true }).catch(() => {});
  };
  window.addEventListener('pagehide', remove);
  try {
    return await waitForJob(id, analysis.choice, authorized);
  } finally {
    window.removeEventListener('pagehide', remove);
    remove();
  }
}

async function waitForJob(
  id: string,
  choice: Choice,
  { authorize, onProgress, signal }: AnalyzeOptions,
): Promise<Outcome> {
  let failures = 0;
  for (let wait = 1; ; wait = waitSeconds) {
    const headers = { authorization: await authorize() };
    const reply = await fetch(`/v1/jobs/${id}?wait=${wait}`, { headers, signal }).catch(() => null);
    if (signal.aborted) return null;
    const job = (await reply?.json().catch(() => null)) as Job | null;
    if (!reply?.ok || job === null) {
      // The computer slept, or the service is busy: the job goes on.
      const isOver = reply !== null && reply.status < 500 && reply.status !== 429;
      if (isOver || ++failures > maxFailures) {
        return reply === null
          ? { kind: 'unreachable' }
          : { kind: 'refused', status: reply.status, body: job };
      }
      await new Promise((resolve) => setTimeout(resolve, retryMs));
      continue;
    }
    failures = 0;
    if (job.result !== null) return answerOf(job.result, JSON.stringify(job.result), choice);
    if (job.error !== null) return { kind: 'refused', status: statusOf(job.error), body: job.error };
    const { analysed_s: analysed = 0, duration_s: duration = null } = job.progress ?? {};
    onProgress(1, duration === null ? null : analysed / duration);
  }
}

/** Of the response that POST /v1/analyze would have been. */
function statusOf(error: unknown): number {
  return Array.isArray((error as { readonly detail: unknown }).detail) ? 422 : 503;
}

function form({ recording, baseline, choice }: AnalysisRequest): FormData {
  const data = new FormData();
  data.append('audio', playable(recording), recording.name);
  if (baseline !== null && isOfOne(choice)) data.append('baseline', playable(baseline), baseline.name);
  for (const [name, value] of Object.entries(partsOf(choice))) data.append(name, value);
  return data;
}

/** The service detects formats by content; the type that a system derives from a file name is unreliable. */
function playable({ blob }: Recording): Blob {
  return /^(audio|video)\//.test(blob.type) ? blob : blob.slice(0, blob.size, 'application/octet-stream');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
