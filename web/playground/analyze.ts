/** One upload to POST /v1/analyze, with its progress. */
import type { Recording } from './recording.ts';
import type { Report } from './report.ts';

export type AnalysisRequest = {
  readonly recording: Recording;
  readonly baseline: Recording | null;
  /** 0-based, or null for the average. */
  readonly channel: number | null;
};

export type Answer = { readonly report: Report; readonly json: string };

/** An error response, no response, or a live session that closed without a report. */
export type AnalysisError =
  | { readonly kind: 'refused'; readonly status: number; readonly body: unknown }
  | { readonly kind: 'unreachable' }
  | { readonly kind: 'lost' };

export type Outcome = Answer | AnalysisError | null;

export type AnalyzeOptions = {
  /** @param share sent part of the upload, 0 to 1 */
  readonly onProgress: (share: number) => void;
  readonly signal: AbortSignal;
};

/** @returns null after an abort */
export function analyze(
  analysis: AnalysisRequest,
  token: string,
  { onProgress, signal }: AnalyzeOptions,
): Promise<Outcome> {
  const request = new XMLHttpRequest();
  request.open('POST', '/v1/analyze');
  request.setRequestHeader('Authorization', `Bearer ${token}`);
  request.upload.addEventListener('progress', ({ loaded, total }) =>
    onProgress(total > 0 ? loaded / total : 0),
  );
  request.upload.addEventListener('load', () => onProgress(1));
  signal.addEventListener('abort', () => request.abort(), { once: true });
  return new Promise((resolve) => {
    request.addEventListener('load', () => resolve(read(request)));
    request.addEventListener('error', () => resolve({ kind: 'unreachable' }));
    request.addEventListener('abort', () => resolve(null));
    request.send(form(analysis));
  });
}

function form({ recording, baseline, channel }: AnalysisRequest): FormData {
  const data = new FormData();
  data.append('audio', playable(recording), recording.name);
  if (baseline !== null) data.append('baseline', playable(baseline), baseline.name);
  if (channel !== null) data.append('channel', String(channel));
  return data;
}

/** The service detects formats by content; the type that a system derives from a file name is unreliable. */
function playable({ blob }: Recording): Blob {
  return /^(audio|video)\//.test(blob.type) ? blob : blob.slice(0, blob.size, 'application/octet-stream');
}

function read(request: XMLHttpRequest): Answer | AnalysisError {
  const body = parse(request.responseText);
  if (request.status === 200 && body !== null) return { report: body as Report, json: request.responseText };
  return { kind: 'refused', status: request.status, body };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
