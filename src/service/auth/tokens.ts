/** API tokens: made, listed, revoked and verified. Only SHA-256 hashes are stored, in the database and in memory. */

import type { WriteFailures } from '../background-writes.ts';
import type { Database } from '../database.ts';
import { createLastUsed } from './last-used.ts';
import { allScopes, createTokenSecret, hashToken, randomBase62, scopes } from './token-format.ts';
import { checkTokenInput, idPrefix, TokenError, type TokenInput } from './token-input.ts';
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
import { createVerifier } from './token-verifier.ts';

export { type Scope, scopeOf, scopes } from './token-format.ts';
export { TokenError, type TokenInput } from './token-input.ts';
export type { ListedToken, Owner, Principal, TokenRecord } from './token-table.ts';

/** The token itself is never available again. */
export type NewToken = { readonly token: string; readonly record: TokenRecord };

type EndedPrincipals = { readonly revoked: readonly Principal[]; readonly expired: readonly Principal[] };

export type Tokens = ReturnType<typeof createTokens>;

const idLength = 12;
const sessionTokenMs = 15 * 60_000;
const sessionTokenName = 'playground';

export function createTokens(options: {
  readonly database: Database;
  /** UNDERTONE_TOKEN; has the scopes of analyses. */
  readonly staticToken: string | null;
  /** ms since 1970 */
  readonly now?: () => number;
  readonly failures?: WriteFailures;
}) {
  const { database, staticToken, now = Date.now, failures } = options;
  const table = tokenTable(database);
  const lastUsed = createLastUsed(database, now, failures);
  const { verify, forget } = createVerifier({ table, staticToken, now, onUse: lastUsed.mark });

  async function createNamed(request: TokenInput, owner: Owner): Promise<NewToken | null> {
    checkTokenInput(request, now());
    const { token, row } = issue(request, { owner, session: null, now: now() });
    const outcome = await table.insert(row);
    if (outcome === 'duplicate_name') throw new TokenError('an unused name', 'name', request.name, true);
    return outcome === 'inserted' ? { token, record: toRecord(row) } : null;
  }

  const forgetOwner = (owner: string) => forget((record) => record.owner === owner);

  async function revoke(selector: TokenSelector): Promise<TokenRecord | null> {
    const row = await table.revoke(selector, now());
    if (row === undefined) return null;
    forget((record) => record.id === row.id);
    return toRecord(row);
  }

  return {
    verify,
    /** Returns null when the account was deleted. @throws TokenError */
    createFor: (owner: string, request: TokenInput) => createNamed(request, owner),
    /** Creates a token of the command line. @throws TokenError */
    create: async (request: TokenInput) => (await createNamed(request, null)) as NewToken,
    /** Creates a token with the scopes of analyses that ends with the session and is never listed. Returns null after its end. */
    async createForSession({ id, owner }: { readonly id: string; readonly owner: string }) {
      const expiresAt = new Date(now() + sessionTokenMs);
      const request = { name: sessionTokenName, scopes, expiresAt, purpose: null };
      const { token, row } = issue(request, { owner, session: id, now: now() });
      return (await table.insert(row)) === 'inserted' ? { token, record: toRecord(row) } : null;
    },
    /** Oldest first, of one owner or all, with expired and revoked tokens but without session tokens. */
    async list(owner?: Owner): Promise<ListedToken[]> {
      await lastUsed.flush();
      return table.list(owner);
    },
    /** Selects by id, or by name among the tokens of the command line. Returns null without a live token. */
    revoke(idOrName: string): Promise<TokenRecord | null> {
      const isId = idOrName.startsWith(idPrefix);
      return revoke(isId ? { key: 'id', value: idOrName } : { key: 'name', value: idOrName, owner: null });
    },
    /** Returns null unless the owner has a live token with this id. */
    revokeOf: (owner: Owner, id: string) => revoke({ key: 'id', value: id, owner }),
    /** Revokes every token of the account. */
    async revokeAllOf(owner: string): Promise<void> {
      await table.revokeAll(owner, now());
      forgetOwner(owner);
    },
    /** Called when tokens of the owner may have ended with a session or the account. */
    forget: forgetOwner,
    /**
     * `revoked`: those that were revoked, or whose account or log-in has ended. `expired`: other tokens after their expiry,
     * without session tokens. @throws ServiceError `storage_unavailable`
     */
    async findEnded(principals: readonly Principal[]): Promise<EndedPrincipals> {
      const unique = (values: readonly (string | null)[]) =>
        [...new Set(values)].filter((value) => value !== null);
      const ended = await table.findEnded(unique(principals.map(({ id }) => id)), now());
      const isRevoked = new Map(ended.map(({ id, revoked_at }) => [id, revoked_at !== null]));
      const owners = new Set(await table.findOwners(unique(principals.map(({ owner }) => owner))));
      const sessions = new Set(await table.findSessions(unique(principals.map(({ session }) => session))));
      const revoked = principals.filter(
        ({ id, owner, session }) =>
          isRevoked.get(id) ||
          (owner !== null && !owners.has(owner)) ||
          (session !== null && !sessions.has(session)),
      );
      return { revoked, expired: principals.filter(({ id }) => isRevoked.get(id) === false) };
    },
    /** Whether there is more than one owner: accounts, and valid tokens of the command line. @throws ServiceError `storage_unavailable` */
    hasSeveralOwners: async () => (await table.countOwners(now(), 2)) + (staticToken === null ? 0 : 1) > 1,
    /** Whether a token was ever created. */
    hasAny: table.hasAny,
    /** Writes the last use of tokens. @throws ServiceError `storage_unavailable` */
    flush: lastUsed.flush,
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
    hash: hashToken(token).toString('hex'),
    scopes: allScopes.filter((scope) => request.scopes.includes(scope)).join(' '),
    created_at: now,
    expires_at: request.expiresAt?.getTime() ?? null,
    revoked_at: null,
    owner,
    session,
    last_used_at: null,
    purpose: request.purpose,
  };
  return { token, row };
}
