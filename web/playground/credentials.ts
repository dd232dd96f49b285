/** The token that analyses are sent with: made for whoever is logged in, or pasted. */

export type Standing =
  | { readonly kind: 'session'; readonly email: string }
  | { readonly kind: 'pasted' }
  | { readonly kind: 'none' };

export type Access = {
  standing(): Promise<Standing>;
  /** Null when there is neither a session nor a pasted token. */
  token(): Promise<string | null>;
  /** A token that was refused is not used again. */
  forget(): void;
  paste(token: string): void;
};

type OwnToken = { readonly token: string; readonly expires_at: string };
type Session = { readonly user: { readonly email: string } | null };

/** A token that ends sooner is replaced before it is used. */
const leastMs = 60_000;

export function createAccess(): Access {
  let pasted: string | null = null;
  let own: OwnToken | null = null;
  const isFresh = ({ expires_at }: OwnToken) => Date.parse(expires_at) - Date.now() > leastMs;
  return {
    standing: async () => {
      if (pasted !== null) return { kind: 'pasted' };
      const session = await ask<Session>('GET', '/account/api/session');
      return session?.user ? { kind: 'session', email: session.user.email } : { kind: 'none' };
    },
    token: async () => {
      if (pasted !== null) return pasted;
      if (own === null || !isFresh(own)) own = await ask<OwnToken>('POST', '/account/api/playground-token');
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

/** Null when the service refuses, or does not answer. */
async function ask<T>(method: 'GET' | 'POST', path: string): Promise<T | null> {
  const response = await fetch(path, { method }).catch(() => null);
  return response?.ok ? ((await response.json()) as T) : null;
}
