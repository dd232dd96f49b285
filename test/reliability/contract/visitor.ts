/** Requests of the account page, with its cookies. */
import type { Server } from '../support/service.ts';
import { type Asked, ask, type ResponseListener } from './asking.ts';

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
