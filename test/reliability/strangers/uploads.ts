/** One account opens uploads and sends little or nothing; another account is not affected. */
import { setTimeout as sleep } from 'node:timers/promises';
import { contentType } from '../../../benchmarks/upload-body.ts';
import { type Wire, wire } from '../../support/http.ts';
import { atMost, none, type Row } from '../case.ts';
import type { Server } from '../support/service.ts';
import { type Account, type Answer, openAccount, useService } from './account.ts';

const connections = 128;
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

async function useRepeatedly(server: Server, account: Account): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let times = 0; times < uses; times++) answers.push(...(await useService(server, account)));
  return answers;
}

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
  const clients: Wire[] = [];
  try {
    for (let index = 0; index < connections; index++)
      clients.push(await openUpload(server.port, attacker.token, attack.path, attack.sentBytes(index)));
    await sleep(settleMs);
    const during = await useRepeatedly(server, other);
    const kinds = [...new Set(before.map(({ what }) => what))];
    const delays = kinds.map((what) => slowest(during, what) - slowest(before, what));
    const refused = during.filter(({ ok }) => !ok);
    const name = (what: string) => `${connections} ${attack.name} uploads: ${what}`;
    return [
      none(
        name('requests of another account not answered'),
        refused.map(({ what }) => what),
        during.length,
      ),
      atMost(
        slowerSeconds,
        name('slower for another account by'),
        's',
        refused.length > 0 ? null : Math.max(...delays) / 1000,
        kinds.map((what) => `${what} ${slowest(during, what).toFixed(0)} ms`).join(', '),
      ),
    ];
  } finally {
    for (const { socket } of clients) socket.destroy();
  }
}
