/** Guesses that share a prefix with the token, and guesses that share one only among themselves. */
import { Agent, request } from 'node:http';
import { checksum, randomBase62 } from '../../../src/auth/token-format.ts';
import { createTokens } from '../../../src/auth/tokens.ts';
import { openDatabase } from '../../../src/db/database.ts';
import { makeDatabaseUrl } from '../../support/database.ts';
import type { Server } from '../support/service.ts';
import type { Classes, Guess } from './timing.ts';

const perClass = 64;
const tokenLetters = 64;
const tail = 4;
const longAgo = 1000;

const flat = (text: string): string => Buffer.from(text, 'latin1').toString('latin1');
const many = (make: () => string): string[] => Array.from({ length: perClass }, () => flat(make()));

/**
 * Those near share all but the last few letters with the token. Those far share as much with one another and have
 * digits and small and large letters in the same places: guesses that are alike are read faster, whatever is secret.
 */
export function guessesAt(token: string, finish: (begin: string) => string = withRandomTail): Classes {
  const begin = token.slice(0, token.length - finish('').length);
  const other = begin.slice(0, prefixLength) + begin.slice(prefixLength).replaceAll(/./g, otherOfKind);
  return { near: many(() => finish(begin)), far: many(() => finish(other)) };
}

/** The prefix of tokens is public. */
const prefixLength = 'ut_'.length;
const kinds = [/[0-9]/, /[A-Z]/, /[a-z]/];

function otherOfKind(letter: string): string {
  const kind = kinds.find((one) => one.test(letter)) ?? /./;
  for (;;) {
    const drawn = randomBase62(1);
    if (drawn !== letter && kind.test(drawn)) return drawn;
  }
}

function withRandomTail(begin: string): string {
  return begin + randomBase62(tail);
}

/** With a valid checksum: the check refuses others before the comparison. */
function withChecksum(begin: string): string {
  const body = withRandomTail(begin);
  return body + checksum(body);
}

export type Target = { readonly name: string; readonly guess: Guess; readonly classes: Classes };

/** The real check against a database, which it reads for every guess. */
export async function verifierTargets(): Promise<readonly Target[]> {
  const staticToken = randomBase62(tokenLetters);
  const database = await openDatabase(await makeDatabaseUrl('sqlite'));
  let clock = Date.now();
  // No cached entry is fresh.
  const now = () => (clock += longAgo);
  const tokens = createTokens({ database, staticToken, now });
  const scopes = ['analyze:emotion'];
  const { token } = await tokens.create({ name: 'one', scopes, expiresAt: null });
  const guess = tokens.verify;
  return [
    { name: 'UNDERTONE_TOKEN', guess, classes: guessesAt(staticToken) },
    { name: 'a token of the database', guess, classes: guessesAt(token, withChecksum) },
  ];
}

/** The whole way through a socket: a request without a body, on one connection that is kept. */
export function overHttp(server: Pick<Server, 'port'>): Guess {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  return (token) =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Length': '0' };
      const where = { host: '127.0.0.1', port: server.port, path: '/v1/analyze', method: 'POST' };
      const sent = request({ ...where, headers, agent }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      sent.on('error', reject).end();
    });
}
