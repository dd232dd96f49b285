/** Somebody with an account, who asks what the account page asks. */
import type { Server } from '../service.ts';
import { type Asked, ask, type Witness } from './asking.ts';

export const password = 'correct horse battery staple';
const prefix = '/account/api';

export type Visitor = {
  /** As the browser sends it back. */
  cookie(): string;
  ask(operation: string, body?: object | string, change?: Partial<Asked>): Promise<Record<string, unknown>>;
};

export const operationOf = (method: 'GET' | 'POST', path: string): string => `${method} ${prefix}/${path}`;

export function visit({ port, url }: Pick<Server, 'port' | 'url'>, witness: Witness): Visitor {
  let cookie = '';
  return {
    cookie: () => cookie,
    async ask(operation, body, change = {}) {
      const [method] = operation.split(' ');
      const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
      const { headers, ...rest } = change;
      const reply = await ask(port, witness, {
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
