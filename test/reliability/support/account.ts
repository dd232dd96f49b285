/** Requests of the account page, with its cookies. */

import { contentType, multipart, toneFile } from '../../../benchmarks/upload-body.ts';
import { call, type Reply } from '../../support/http.ts';
import { analysis, exchange, sendRaw, speechUpload } from './requests.ts';
import type { Server } from './service.ts';

export const password = 'correct horse battery staple';
const prefix = '/account/api';

export type AccountClient = {
  /** As the browser sends it back. */
  cookie(): string;
  ask(operation: string, body?: object | string, change?: Partial<Asked>): Promise<Record<string, unknown>>;
};

export const operationOf = (method: 'GET' | 'POST', path: string): string => `${method} ${prefix}/${path}`;

export function createAccountClient(
  { port, url }: Pick<Server, 'port' | 'url'>,
  onResponse: ResponseListener,
): AccountClient {
  let cookie = '';
  return {
    cookie: () => cookie,
    async ask(operation, body, change = {}) {
      const [method] = operation.split(' ');
      const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
      const { headers, ...rest } = change;
      const reply = await ask(port, onResponse, {
        operation,
        ...(method === 'POST' ? { body: text } : {}),
        ...rest,
        headers: { Origin: url, 'Content-Type': 'application/json', Cookie: cookie, ...headers },
      });
      const set = reply.headers['set-cookie'] ?? [];
      if (set.length > 0)
        cookie = [set]
          .flat()
          .map((line) => line.split(';')[0])
          .join('; ');
      return JSON.parse(reply.body) as Record<string, unknown>;
    },
  };
}

/** The status of a sign-up or a log-in; 0 without an answer. */
export async function accountStatus(
  server: Pick<Server, 'port' | 'url'>,
  path: 'sign-up' | 'log-in',
  email: string,
): Promise<number> {
  let status = 0;
  const accountClient = createAccountClient(server, (_operation, answered) => {
    status = answered;
  });
  await accountClient.ask(operationOf('POST', path), { email, password }).catch(() => {});
  return status;
}

// Requests that report each answer to a listener.

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

// An account used from the account page and by a token.

export type Account = {
  readonly email: string;
  readonly accountClient: AccountClient;
  /** With both scopes. */
  readonly token: string;
  /** The status of the last answer on the account page. */
  lastStatus(): number;
};

const post = (path: string) => operationOf('POST', path);
const credentials = (email: string) => ({ email, password });

/** Signs up and creates a token. */
export async function openAccount(server: Server, name: string): Promise<Account> {
  const email = `${name}@home.example`;
  let status = 0;
  const accountClient = createAccountClient(server, (_operation, answered) => {
    status = answered;
  });
  await accountClient.ask(post('sign-up'), credentials(email));
  const scopes = ['analyze:emotion', 'analyze:cognitive'];
  const created = await accountClient.ask(post('tokens'), { name: 'ci', scopes });
  if (status !== 200) throw new Error(`Expected a token for ${name}, got ${status}`);
  return { email, accountClient, token: String(created.token), lastStatus: () => status };
}

export type Answer = { readonly what: string; readonly ok: boolean; readonly ms: number };

const speechForm = speechUpload(1);

/** An analysis, a log-in and an upload of a job. */
export async function useService(server: Server, { token, email, accountClient, lastStatus }: Account) {
  const asked = analysis({ port: server.port, token }, speechForm);
  const [analyzed, job] = [await exchange(asked), await exchange({ ...asked, path: '/v1/jobs' })];
  const started = performance.now();
  await accountClient.ask(post('log-in'), credentials(email));
  const answers: Answer[] = [
    { what: 'analysis', ok: analyzed.status === 200, ms: analyzed.ms },
    { what: 'job', ok: [200, 202].includes(job.status), ms: job.ms },
    { what: 'log-in', ok: lastStatus() === 200, ms: performance.now() - started },
  ];
  return answers;
}
