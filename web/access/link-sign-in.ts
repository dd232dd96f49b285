/** Signs in with the one-time code of the link that the service prints at its start. */

export type OwnToken = { readonly token: string; readonly expires_at: string };

const codeFragment = /^#code=([\w-]+)$/;
/** In sessionStorage: a reload of the tab stays signed in. */
const storageKey = 'link-token';

/** Returns the code of the address, and removes it from the address and the history of the tab. */
export function readCode(): string | null {
  const code = codeFragment.exec(location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, '', location.pathname + location.search);
  return code;
}

/** Returns null for an error response or an unreachable service. */
export async function redeemCode(code: string): Promise<OwnToken | null> {
  const headers = { 'Content-Type': 'application/json' };
  const request = { method: 'POST', headers, body: JSON.stringify({ code }) };
  const response = await fetch('/account/api/playground-link', request).catch(() => null);
  return response?.ok ? ((await response.json()) as OwnToken) : null;
}

/** Returns null without a token, or after its expiry. */
export function readLinkToken(): OwnToken | null {
  const stored = sessionStorage.getItem(storageKey);
  const token = stored === null ? null : (JSON.parse(stored) as OwnToken);
  return token !== null && Date.parse(token.expires_at) > Date.now() ? token : null;
}

export function storeLinkToken(token: OwnToken | null): void {
  if (token === null) sessionStorage.removeItem(storageKey);
  else sessionStorage.setItem(storageKey, JSON.stringify(token));
}
