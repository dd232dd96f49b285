/** One account opens uploads and sends nothing, or almost nothing: another account must not notice. */
import { setTimeout as sleep } from 'node:timers/promises';
import { residentMebibytes } from '../../../benchmarks/process.ts';
import { call, type Wire, wire } from '../../support/http.ts';
import { contentType } from '../../support/upload.ts';
import { atMost, exactly, none, type Row, told } from '../case.ts';
import { heldBytes } from '../load/footprint.ts';
import type { Server } from '../service.ts';
import { type Account, type Answer, openAccount, useService } from './account.ts';

const connections = 128;
const dripMs = 250;
const dripLimitMs = 90_000;
const settleMs = 1500;
const uses = 3;

export type Siege = {
  readonly name: string;
  readonly path: string;
  /** What each connection sends before it stops. */
  sentBytes(connection: number): number;
};

export const idle: Siege = { name: 'idle', path: '/v1/jobs', sentBytes: () => 0 };
/** Together more than UNDERTONE_BUFFER_BYTES; the last ones are smaller, to fill what the large ones leave free. */
export const stalled: Siege = {
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

export async function siegeRows(server: Server, siege: Siege, slowerSeconds: number): Promise<Row[]> {
  const [attacker, other] = [
    await openAccount(server, `attacker-${siege.name}`),
    await openAccount(server, `other-${siege.name}`),
  ];
  const pid = server.process.pid as number;
  const before = await useRepeatedly(server, other);
  const idleMebibytes = residentMebibytes(pid);
  const sentBytes = Array.from({ length: connections }, (_, index) => siege.sentBytes(index));
  const clients: Wire[] = [];
  try {
    for (let index = 0; index < connections; index++)
      clients.push(await openUpload(server.port, attacker.token, siege.path, sentBytes[index] as number));
    await sleep(settleMs);
    const held = await heldBytes(server.port);
    const during = await useRepeatedly(server, other);
    const kinds = [...new Set(before.answers.map(({ what }) => what))];
    const delays = kinds.map((what) => slowest(during.answers, what) - slowest(before.answers, what));
    const refused = during.answers.filter(({ ok }) => !ok);
    const name = (what: string) => `${connections} ${siege.name} uploads: ${what}`;
    return [
      none(
        name('requests of another account not answered'),
        refused.map(({ what }) => what),
        during.answers.length,
      ),
      atMost(slowerSeconds, {
        name: name('slower for another account by'),
        unit: 's',
        value: refused.length > 0 ? null : Math.max(...delays) / 1000,
        note: kinds.map((what) => `${what} ${slowest(during.answers, what).toFixed(0)} ms`).join(', '),
      }),
      none(name("/ready contradicts another account's answers"), during.contradictions, uses),
      atMost(Math.ceil(sum(sentBytes) / 2 ** 20) + 1, {
        name: name('bytes reserved'),
        unit: 'MiB',
        value: held / 2 ** 20,
        note: `${clients.filter((client) => client.text() !== '').length} refused`,
      }),
      told({
        name: name('resident memory gained'),
        unit: 'MiB',
        value: residentMebibytes(pid) - idleMebibytes,
      }),
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
  return exactly(408, {
    name: 'an upload of 4 bytes a second ends with',
    unit: 'status',
    value: Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0) || null,
    note: `after ${seconds.toFixed(0)} s`,
  });
}
