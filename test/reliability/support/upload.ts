/** Uploads with a request id. */
import { contentType } from '../../../benchmarks/upload-body.ts';
import type { Server } from './service.ts';
import { speechUpload } from './speech.ts';

export type Answer = {
  /** 0 when the connection broke. */
  readonly status: number;
  /** The error code. */
  readonly code: string | null;
  /** The worker, for ids that request it. */
  readonly worker: string | null;
};

const upload = new Uint8Array(speechUpload(1));

export async function ask(
  { url, token }: Pick<Server, 'url' | 'token'>,
  id: string,
  body: Uint8Array<ArrayBuffer> = upload,
): Promise<Answer> {
  try {
    const response = await fetch(`${url}/v1/analyze`, {
      method: 'POST',
      headers: { 'Content-Type': contentType, Authorization: `Bearer ${token}`, 'X-Request-Id': id },
      body,
    });
    const answer = (await response.json()) as { code?: string; worker?: string };
    return { status: response.status, code: answer.code ?? null, worker: answer.worker ?? null };
  } catch {
    return { status: 0, code: null, worker: null };
  }
}

export async function askMany(server: Server, id: string, count: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => ask(server, id)));
}
