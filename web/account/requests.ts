/** Requests of the account page to the service. */
import type { AccountJson } from '../../src/service/api/account-schemas.ts';

type Item = AccountJson['AccountItem'];

/** An error response; status 0: the service is unreachable. */
export class Refusal extends Error {
  readonly status: number;
  readonly items: readonly Item[];
  readonly retryAfterSeconds: number;

  constructor(status: number, detail: string | readonly Item[], retryAfterSeconds: number) {
    super(typeof detail === 'string' ? detail : (detail[0]?.msg ?? ''));
    this.status = status;
    this.items = typeof detail === 'string' ? [] : detail;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

export function read<T>(path: string): Promise<T> {
  return request<T>(path, { method: 'GET' });
}

export function send<T>(path: string, body: object = {}): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  return request<T>(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

/** @throws Refusal */
async function request<T>(path: string, init: RequestInit): Promise<T> {
  const response = await fetch(`/account/api/${path}`, init).catch(() => null);
  if (response === null) throw new Refusal(0, '', 0);
  const answer: unknown = await response.json().catch(() => ({}));
  if (response.ok) return answer as T;
  const { detail = '' } = answer as { readonly detail?: string | readonly Item[] };
  throw new Refusal(response.status, detail, Number(response.headers.get('Retry-After') ?? 0));
}
