/** API tokens: made, checked, listed and revoked. Only SHA-256 hashes are kept, in the database and in memory. */
import type { Database } from '../db/database.ts';
import { createLastUsed } from './last-used.ts';
import { createTokenSecret, randomBase62 } from './token-format.ts';
import { checkTokenInput, idPrefix, scopes, TokenError, type TokenInput } from './token-input.ts';
import {
  type ListedToken,
  type Owner,
  type Principal,
  type TokenRecord,
  type TokenRow,
  type TokenSelector,
  tokenTable,
  toRecord,
} from './token-table.ts';
import { createVerifier, sha256 } from './verifier.ts';

export { type Scope, scopeOf, scopes, TokenError, type TokenInput } from './token-input.ts';
export type { ListedToken, Owner, Principal, TokenRecord } from './token-table.ts';

/** The only time that the token itself is seen. */
export type NewToken = { readonly token: string; readonly record: TokenRecord };

export type Tokens = {
  /** Null for a token that is unknown, expired or revoked. @throws Failure `storage_unavailable` */
  verify(token: string): Promise<Principal | null>;
  /** Null when the owner is gone. @throws TokenError */
  createFor(owner: string, request: TokenInput): Promise<NewToken | null>;
  /** Of the operator. @throws TokenError */
  create(request: TokenInput): Promise<NewToken>;
  /** With every scope, for a browser that is logged in; never listed, gone with its session. Null when that has ended. */
  createForSession(session: { readonly id: string; readonly owner: string }): Promise<NewToken | null>;
  /** Every token that ever was asked for by name, oldest first; those of one owner, or all. */
  list(owner?: Owner): Promise<ListedToken[]>;
  /** By id; or by name, which finds the operator's alone. Null when there is no such live token. */
  revoke(idOrName: string): Promise<TokenRecord | null>;
  /** Null when this owner has no live token of this id. */
  revokeOf(owner: Owner, id: string): Promise<TokenRecord | null>;
  /** Every token of this account that was asked for by name. */
  revokeAllOf(owner: string): Promise<void>;
  /** To be called when tokens of this owner may have gone with a session or an account. */
  forget(owner: string): void;
  /** Whether a token was ever made. */
  hasAny(): Promise<boolean>;
  /** Writes down when tokens were last used. @throws Failure `storage_unavailable` */
  flush(): Promise<void>;
};

const idLength = 12;
const sessionTokenMs = 15 * 60_000;
const sessionTokenName = 'playground';

export function createTokens(options: {
  readonly database: Database;
  /** A token with every scope that lives in the configuration. */
  readonly staticToken: string | null;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}): Tokens {
  const { database, staticToken, now = Date.now } = options;
  const table = tokenTable(database);
  const usage = createLastUsed(database, now);
  const { verify, forget } = createVerifier({ table, staticToken, now, onUse: usage.mark });

  async function make(request: TokenInput, owner: Owner): Promise<NewToken | null> {
    checkTokenInput(request, now());
    const { token, row } = issue(request, { owner, session: null, now: now() });
    const outcome = await table.insert(row);
    if (outcome === 'name taken') throw new TokenError('an unused name', 'name', request.name, true);
    return outcome === 'done' ? { token, record: toRecord(row) } : null;
  }

  const forgetOwner = (owner: string) => forget((record) => record.owner === owner);

  async function revoke(which: TokenSelector): Promise<TokenRecord | null> {
    const row = await table.revoke(which, now());
    if (row === undefined) return null;
    forget((record) => record.id === row.id);
    return toRecord(row);
  }

  return {
    verify,
    createFor: (owner, request) => make(request, owner),
    create: async (request) => (await make(request, null)) as NewToken,
    async createForSession({ id, owner }) {
      const request = { name: sessionTokenName, scopes, expiresAt: new Date(now() + sessionTokenMs) };
      const { token, row } = issue(request, { owner, session: id, now: now() });
      await table.sweep(now());
      return (await table.insert(row)) === 'done' ? { token, record: toRecord(row) } : null;
    },
    async list(owner) {
      await usage.flush();
      return table.list(owner);
    },
    revoke(idOrName) {
      const isId = idOrName.startsWith(idPrefix);
      return revoke(isId ? { key: 'id', value: idOrName } : { key: 'name', value: idOrName, owner: null });
    },
    revokeOf: (owner, id) => revoke({ key: 'id', value: id, owner }),
    async revokeAllOf(owner) {
      await table.revokeAll(owner, now());
      forgetOwner(owner);
    },
    forget: forgetOwner,
    hasAny: table.hasAny,
    flush: usage.flush,
  };
}

function issue(
  request: TokenInput,
  { owner, session, now }: { owner: Owner; session: string | null; now: number },
): { readonly token: string; readonly row: TokenRow } {
  const token = createTokenSecret();
  const row = {
    id: idPrefix + randomBase62(idLength),
    name: request.name,
    prefix: token.slice(0, 7),
    hash: sha256(token).toString('hex'),
    scopes: scopes.filter((scope) => request.scopes.includes(scope)).join(' '),
    created_at: now,
    expires_at: request.expiresAt?.getTime() ?? null,
    revoked_at: null,
    owner,
    session,
    last_used_at: null,
  };
  return { token, row };
}
