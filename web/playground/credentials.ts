/** The token of analysis requests: created for the session, or pasted. */

export type AuthState =
  | { readonly kind: 'session'; readonly email: string }
  | { readonly kind: 'pasted' }
  | { readonly kind: 'none' };

export type Credentials = {
  authState(): Promise<AuthState>;
  /** Null without a session and a pasted token. */
  token(): Promise<string | null>;
  /** Drops a rejected token. */
  forget(): void;
  paste(token: string): void;
};

type OwnToken = { readonly token: string; readonly expires_at: string };
type Session = { readonly user: { readonly email: string } | null };

/** A token that expires sooner is replaced before use. */
const minRemainingMs = 60_000;

export function createCredentials(): Credentials {
  let pasted: string | null = null;
  let own: OwnToken | null = null;
  const isFresh = ({ expires_at }: OwnToken) => Date.parse(expires_at) - Date.now() > minRemainingMs;
  return {
    authState: async () => {
      if (pasted !== null) return { kind: 'pasted' };
      const session = await fetchJson<Session>('GET', '/account/api/session');
      return session?.user ? { kind: 'session', email: session.user.email } : { kind: 'none' };
    },
    token: async () => {
      if (pasted !== null) return pasted;
      if (own === null || !isFresh(own))
        own = await fetchJson<OwnToken>('POST', '/account/api/playground-token');
      return own?.token ?? null;
    },
    forget: () => {
      pasted = null;
      own = null;
    },
    paste: (token) => {
      pasted = token;
    },
  };
}

/** Null for an error response or an unreachable service. */
async function fetchJson<T>(method: 'GET' | 'POST', path: string): Promise<T | null> {
  const response = await fetch(path, { method }).catch(() => null);
  return response?.ok ? ((await response.json()) as T) : null;
}
