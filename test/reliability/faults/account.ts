/** Statuses of requests that need the database. */
import { makeToken } from '../../support/server.ts';
import type { Server } from '../support/service.ts';
import { ask } from '../support/upload.ts';

const password = 'correct horse battery staple';

type Address = Pick<Server, 'url'>;

export async function post(server: Address, path: 'sign-up' | 'log-in', email: string): Promise<number> {
  try {
    const response = await fetch(`${server.url}/account/api/${path}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Origin: server.url },
      body: JSON.stringify({ email, password }),
    });
    await response.arrayBuffer();
    return response.status;
  } catch {
    return 0;
  }
}

export async function analyzeAs({ url }: Address, token: string): Promise<number> {
  return (await ask({ url, token }, 'fault')).status;
}

export const createToken = (dataDir: string, expires: string): string =>
  makeToken({ dataDir }, 'analyze:emotion,analyze:cognitive', expires, '--expires', expires);
