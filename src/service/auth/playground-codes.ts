/** One-time codes that sign the playground in without an account. Only their SHA-256 hashes are stored. */
import { randomBytes } from 'node:crypto';
import { type Database, runQuery } from '../database.ts';
import { hashToken, randomBase62, scopes } from './token-format.ts';
import type { NewToken, Tokens } from './tokens.ts';

export type PlaygroundCodes = ReturnType<typeof createPlaygroundCodes>;

const codeBytes = 24;
const codeMs = 10 * 60_000;
const tokenMs = 8 * 3_600_000;

/** Every function throws ServiceError `storage_unavailable`. */
export function createPlaygroundCodes(options: {
  readonly database: Database;
  readonly tokens: Pick<Tokens, 'create'>;
  /** ms since 1970 */
  readonly now?: () => number;
}) {
  const { database, tokens, now = Date.now } = options;
  return {
    async create(): Promise<string> {
      const code = randomBytes(codeBytes).toString('base64url');
      const row = { hash: hashToken(code).toString('hex'), expires_at: now() + codeMs };
      await runQuery(database.insertInto('playground_codes').values(row).execute());
      return code;
    },
    /** Returns a token of the command line for the analyses, or null for an unknown, expired or used code. */
    async redeem(code: string): Promise<NewToken | null> {
      // The process whose statement deletes the row has used the code.
      const used = database
        .deleteFrom('playground_codes')
        .where('hash', '=', hashToken(code).toString('hex'))
        .where('expires_at', '>', now())
        .returning('hash');
      if ((await runQuery(used.executeTakeFirst())) === undefined) return null;
      const name = `playground ${randomBase62(6)}`;
      return tokens.create({ name, scopes, expiresAt: new Date(now() + tokenMs), purpose: null });
    },
  };
}
