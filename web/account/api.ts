/** Requests of this page to the service. */

export type Session = {
  readonly user: { readonly email: string; readonly administrator: boolean } | null;
  readonly sign_up: 'first' | 'open' | 'closed';
};

export type Token = {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly string[];
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly last_used_at: string | null;
  readonly revoked_at: string | null;
  readonly origin: 'account' | 'command_line';
};

export type NewToken = Token & { readonly token: string };

type Item = { readonly loc: readonly string[]; readonly msg: string; readonly type: string };

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
