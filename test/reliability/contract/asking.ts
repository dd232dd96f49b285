/** Requests that report each answer to a listener. */

import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { call, type Reply } from '../../support/http.ts';
import { sendRaw } from '../support/client.ts';

export type Asked = {
  /** METHOD /path of the document. */
  readonly operation: string;
  /** Defaults to the path of the operation. */
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
};

export type ResponseListener = (operation: string, status: number, body: unknown) => void;

export const analysisOperations = ['emotion', 'cognitive'].map((signal) => `POST /v1/analyze/${signal}`);
export const embedOperation = 'POST /v1/embed';
analysisOperations.push('POST /v1/analyze', embedOperation);
export const isAccount = (operation: string): boolean => operation.includes(' /account/');

const sound = multipart([{ name: 'audio', bytes: toneFile(1) }]);

/** A valid request with changes. */
export function upload(operation: string, token: string, change: Partial<Asked> = {}): Asked {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': contentType, ...change.headers };
  return { operation, body: sound, ...change, headers };
}

export async function ask(port: number, onResponse: ResponseListener, asked: Asked): Promise<Reply> {
  const [method = '', path = ''] = asked.operation.split(' ');
  const { headers = {}, body } = asked;
  const wanted = { method, path: asked.path ?? path, headers, ...(body === undefined ? {} : { body }) };
  const reply = await call(port, wanted);
  onResponse(asked.operation, reply.status, toJson(reply.body));
  return reply;
}

/** `lines`: the headers and what follows them, unchecked. */
export async function askRaw(port: number, onResponse: ResponseListener, operation: string, lines: string) {
  const { status, body } = await sendRaw(port, `${operation} HTTP/1.1\r\n${lines}`);
  onResponse(operation, status, toJson(body));
}

function toJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
