/** The token of analysis requests: pasted, of the link that the service printed, or created for the session. */
import { type OwnToken, readLinkToken, redeemCode, storeLinkToken } from './link-sign-in.ts';

export type AuthState =
  | { readonly kind: 'session'; readonly email: string }
  | { readonly kind: 'pasted' }
  | { readonly kind: 'link'; readonly until: Date }
  | { readonly kind: 'none' };

export type Credentials = {
  authState(): Promise<AuthState>;
  /** Null without a session, a link and a pasted token. */
  token(): Promise<string | null>;
  /** Drops a rejected token. */
  forget(): void;
  paste(token: string): void;
  /** Returns whether the code of the link was accepted. */
  signIn(code: string): Promise<boolean>;
};

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
      const link = readLinkToken();
      if (link !== null) return { kind: 'link', until: new Date(link.expires_at) };
      const session = await fetchJson<Session>('GET', '/account/api/session');
      return session?.user ? { kind: 'session', email: session.user.email } : { kind: 'none' };
    },
    token: async () => {
      const chosen = pasted ?? readLinkToken()?.token ?? null;
      if (chosen !== null) return chosen;
      if (own === null || !isFresh(own))
        own = await fetchJson<OwnToken>('POST', '/account/api/playground-token');
      return own?.token ?? null;
    },
    forget: () => {
      pasted = null;
      own = null;
      storeLinkToken(null);
    },
    paste: (token) => {
      pasted = token;
    },
    signIn: async (code) => {
      const token = await redeemCode(code);
      if (token !== null) storeLinkToken(token);
      return token !== null;
    },
  };
}

/** Null for an error response or an unreachable service. */
async function fetchJson<T>(method: 'GET' | 'POST', path: string): Promise<T | null> {
  const response = await fetch(path, { method }).catch(() => null);
  return response?.ok ? ((await response.json()) as T) : null;
}
