/** Log-in limits, and 401 before the body is read. */
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';
import { createLoginThrottle } from '../../../src/auth/login-throttle.ts';
import { inMemory } from '../../../src/auth/rate-limiter.ts';
import { UserError } from '../../../src/auth/user-errors.ts';
import { ServiceError } from '../../../src/runtime/errors.ts';
import { call, wire } from '../../support/http.ts';
import { atMost, exactly, type Row } from '../case.ts';
import { type Server, withListener } from '../support/service.ts';

const perAccount = 10;
const perAddress = 50;

/** True when the password was compared, false when it was not looked at. */
export type Try = (email: string) => Promise<boolean>;

export async function guessingRows(attempt: Try): Promise<Row[]> {
  const count = async (emails: readonly string[]) => {
    let taken = 0;
    for (const email of emails) if (await attempt(email)) taken++;
    return taken;
  };
  const one = await count(Array.from({ length: 3 * perAccount }, () => 'ada@home.example'));
  const others = await count(Array.from({ length: 2 * perAddress }, (_, index) => `no${index}@home.example`));
  const unit = 'in 15 min';
  return [
    atMost(perAccount, 'wrong passwords compared, one account', unit, one),
    atMost(perAddress, 'wrong passwords compared, one address', unit, one + others),
  ];
}

export function overLogIn({ port, url }: Server): Try {
  return async (email) => {
    const { status, headers, body } = await call(port, {
      method: 'POST',
      path: '/account/api/log-in',
      headers: { Origin: url, 'Content-Type': 'application/json' },
      body: JSON.stringify({ email, password: 'wrong, as it happens' }),
    });
    if (status === 401) return true;
    if (status === 429 && Number(headers['retry-after']) > 0) return false;
    throw new Error(`Expected 401, or 429 with Retry-After, got ${status} ${body}`);
  };
}

/** The real throttle without limits. */
export function withoutLimits(): Try {
  const guard = createLoginThrottle((name, { seconds }) => inMemory(name, { requests: 1e9, seconds }));
  return async (email) => {
    const wrong = guard.password({ email, address: '192.0.2.1' }, async () => {
      throw new UserError('unknown');
    });
    return wrong.catch((error: unknown) => !(error instanceof ServiceError));
  };
}

/** Longer than any delay of a busy machine; a service that waits for the body waits forever. */
const refusedMs = 60_000;
const length = 10_000_000;

/** Headers of large uploads without any byte of the body. */
export async function earlyRow(
  port: number,
  tokens: Readonly<Record<string, string>>,
  withinMs = refusedMs,
): Promise<Row> {
  const late: string[] = [];
  for (const [name, authorization] of Object.entries(tokens)) {
    const client = await wire(port);
    const lines = [`Content-Type: ${contentType}`, `Content-Length: ${length}`, authorization].filter(
      Boolean,
    );
    client.socket.write(`POST /v1/analyze HTTP/1.1\r\nHost: x\r\n${lines.join('\r\n')}\r\n\r\n`);
    const answer = await Promise.race([client.until(/\r\n\r\n/), sleep(withinMs, 'nothing')]);
    client.socket.destroy();
    if (!answer.startsWith('HTTP/1.1 401 ')) late.push(name);
  }
  const unit = `of ${Object.keys(tokens).length}`;
  return exactly(0, '401 sent after the body', unit, late.length, late.join(', '));
}

/** Reads the body before it refuses. */
export function withReader<Result>(work: (port: number) => Promise<Result>): Promise<Result> {
  return withListener((request, response) => {
    request.resume().on('end', () => response.writeHead(401).end());
  }, work);
}
