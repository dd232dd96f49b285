/** One account opens uploads and sends little or nothing; another account is not affected. */
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';
import { call, type Wire, wire } from '../../support/http.ts';
import { atMost, exactly, none, type Row } from '../case.ts';
import { heldBytes } from '../support/footprint.ts';
import type { Server } from '../support/service.ts';
import { type Account, type Answer, openAccount, useService } from './account.ts';

const connections = 128;
const dripMs = 250;
const dripLimitMs = 90_000;
const settleMs = 1500;
const uses = 3;

export type UploadAttack = {
  readonly name: string;
  readonly path: string;
  /** Bytes that each connection sends before it stops. */
  sentBytes(connection: number): number;
};

export const idle: UploadAttack = { name: 'idle', path: '/v1/jobs', sentBytes: () => 0 };
/** In total more than UNDERTONE_BUFFER_BYTES; the last uploads are small and fill the rest. */
export const stalled: UploadAttack = {
  name: 'stalled',
  path: '/v1/analyze',
  sentBytes: (connection) => Math.min(2.25 * 2 ** 20, 2 ** ((connections - connection) / 2 + 11)),
};

async function openUpload(port: number, token: string, path: string, sentBytes: number): Promise<Wire> {
  const client = await wire(port);
  const lines = [`POST ${path} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Bearer ${token}`];
  lines.push(`Content-Type: ${contentType}`, 'Content-Length: 20000000', '', '');
  client.socket.write(lines.join('\r\n'));
  if (sentBytes > 0) client.socket.write(Buffer.alloc(sentBytes));
  return client;
}

async function useRepeatedly(server: Server, account: Account) {
  const answers: Answer[] = [];
  const contradictions: string[] = [];
  for (let times = 0; times < uses; times++) {
    const { status } = await call(server.port, { path: '/ready' });
    const now = await useService(server, account);
    if ((status === 200) !== now.some(({ ok }) => ok)) contradictions.push(String(status));
    answers.push(...now);
  }
  return { answers, contradictions };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
const slowest = (answers: readonly Answer[], what: string) =>
  Math.max(...answers.filter((one) => one.what === what).map(({ ms }) => ms));

export async function attackRows(
  server: Server,
  attack: UploadAttack,
  slowerSeconds: number,
): Promise<Row[]> {
  const [attacker, other] = [
    await openAccount(server, `attacker-${attack.name}`),
    await openAccount(server, `other-${attack.name}`),
  ];
  const before = await useRepeatedly(server, other);
  const sentBytes = Array.from({ length: connections }, (_, index) => attack.sentBytes(index));
  const clients: Wire[] = [];
  try {
    for (let index = 0; index < connections; index++)
      clients.push(await openUpload(server.port, attacker.token, attack.path, sentBytes[index] as number));
    await sleep(settleMs);
    const held = await heldBytes(server.port);
    const during = await useRepeatedly(server, other);
    const kinds = [...new Set(before.answers.map(({ what }) => what))];
    const delays = kinds.map((what) => slowest(during.answers, what) - slowest(before.answers, what));
    const refused = during.answers.filter(({ ok }) => !ok);
    const name = (what: string) => `${connections} ${attack.name} uploads: ${what}`;
    return [
      none(
        name('requests of another account not answered'),
        refused.map(({ what }) => what),
        during.answers.length,
      ),
      atMost(
        slowerSeconds,
        name('slower for another account by'),
        's',
        refused.length > 0 ? null : Math.max(...delays) / 1000,
        kinds.map((what) => `${what} ${slowest(during.answers, what).toFixed(0)} ms`).join(', '),
      ),
      none(name("/ready contradicts another account's answers"), during.contradictions, uses),
      atMost(
        Math.ceil(sum(sentBytes) / 2 ** 20) + 1,
        name('bytes reserved'),
        'MiB',
        held / 2 ** 20,
        `${clients.filter((client) => client.text() !== '').length} refused`,
      ),
    ];
  } finally {
    for (const { socket } of clients) socket.destroy();
  }
}

/** Four bytes a second. */
export async function dripRow(server: Server): Promise<Row> {
  const started = performance.now();
  const client = await openUpload(server.port, server.token, idle.path, 0);
  const timer = setInterval(() => client.socket.writable && client.socket.write('x'), dripMs);
  const answer = await Promise.race([client.until(/^HTTP\/1\.1 \d{3} /), sleep(dripLimitMs, '')]);
  clearInterval(timer);
  client.socket.destroy();
  const seconds = (performance.now() - started) / 1000;
  return exactly(
    408,
    'an upload of 4 bytes a second ends with',
    'status',
    Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0) || null,
    `after ${seconds.toFixed(0)} s`,
  );
}
