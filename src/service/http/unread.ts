/** Closes connections whose clients do not read their responses: after a time, and sooner when these hold too many bytes. */
import { createReadStream } from 'node:fs';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { pendingResponses } from './request.ts';

const sweepMs = 1000;
/** Sweeps from one look at the queues of the kernel to the next. */
const sweepsPerLook = 2;

/** Accounts of responses to requests with a token; the others share one limit. */
const accounts = new WeakMap<ServerResponse, string>();

export function setAccount(response: ServerResponse, account: string): void {
  accounts.set(response, account);
}

type Progress = {
  /** Bytes that the kernel has accepted. */
  sent: number;
  /** Bytes that the kernel has and the client does not; null: not known. */
  queued: number | null;
  /** Of the last change, on the clock of performance.now(). */
  at: number;
};

type Held = {
  readonly socket: Socket;
  readonly account: string;
  readonly progress: Progress;
  /** Bytes in this process that wait for the client: of the response, and of requests after it. */
  readonly bytes: number;
};

/** @param sockets all connections @param unreadMs time after which a response without progress is closed */
export function watchResponses(sockets: ReadonlySet<Socket>, unreadMs: number, maxBytes: number) {
  const progressOf = new WeakMap<ServerResponse, Progress>();
  let sweeps = 0;
  let looking = false;
  let closed = 0;

  function close({ socket }: Held): void {
    closed++;
    socket.destroy();
  }

  function list(now = performance.now()): Held[] {
    const held: Held[] = [];
    for (const socket of sockets) {
      const response = pendingResponses.get(socket);
      if (response === undefined || socket.destroyed) continue;
      const sent = socket.bytesWritten - socket.writableLength;
      const last = progressOf.get(response);
      const waits = socket.writableLength > 0 && last?.sent === sent;
      const progress = waits ? last : { sent, queued: null, at: now };
      progressOf.set(response, progress);
      const bytes = socket.writableLength + socket.readableLength;
      if (bytes > 0) held.push({ socket, account: accounts.get(response) ?? '', progress, bytes });
    }
    return held;
  }

  async function look(held: readonly Held[]): Promise<void> {
    const queues = await readSendQueues(held.map(({ socket }) => socket));
    const now = performance.now();
    for (const one of held) {
      const { progress, socket } = one;
      const queued = queues.get(portsOf(socket)) ?? null;
      if (queued !== null && progress.queued !== null && queued !== progress.queued) progress.at = now;
      progress.queued = queued;
      const waits =
        socket.writableLength > 0 && socket.bytesWritten - socket.writableLength === progress.sent;
      if (waits && now - progress.at >= unreadMs) close(one);
    }
  }

  const timer = setInterval(() => {
    const held = list();
    for (const one of excess(held, maxBytes)) close(one);
    if (looking || sweeps++ % sweepsPerLook > 0) return;
    const waiting = held.filter(({ socket }) => !socket.destroyed && socket.writableLength > 0);
    if (waiting.length === 0) return;
    looking = true;
    void look(waiting).finally(() => {
      looking = false;
    });
  }, sweepMs).unref();

  return {
    /** Bytes in this process that wait for clients that read their responses. */
    bytes: () => list().reduce((sum, { bytes }) => sum + bytes, 0),
    /** Connections closed so far. */
    closed: () => closed,
    stop: () => clearInterval(timer),
  };
}

/** Those to close: of the account with the most bytes, that which has waited longest, until the rest is within the limit. */
function excess(held: readonly Held[], maxBytes: number): Held[] {
  let total = held.reduce((sum, { bytes }) => sum + bytes, 0);
  if (total <= maxBytes) return [];
  const byAccount = new Map<string, { bytes: number; readonly waiting: Held[] }>();
  for (const one of held.toSorted((a, b) => b.progress.at - a.progress.at)) {
    const entry = byAccount.get(one.account) ?? { bytes: 0, waiting: [] };
    entry.bytes += one.bytes;
    entry.waiting.push(one);
    byAccount.set(one.account, entry);
  }
  const closing: Held[] = [];
  while (total > maxBytes) {
    const [most] = [...byAccount.values()].toSorted((a, b) => b.bytes - a.bytes);
    const longest = most?.waiting.pop();
    if (most === undefined || longest === undefined) break;
    most.bytes -= longest.bytes;
    total -= longest.bytes;
    closing.push(longest);
  }
  return closing;
}

// The kernel takes megabytes of a response, and the next ones only when a third of its buffer is free: a client that reads slowly
// makes no progress that the process sees for minutes. The kernel's table of connections has what the client has not acknowledged.

const tables = ['/proc/self/net/tcp', '/proc/self/net/tcp6'];
/** Ports of both ends, and the length of the send queue, in hexadecimal. */
const entry = /^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:([\dA-F]{4}) [\dA-F]{2} ([\dA-F]{8}):/;

/** Clients with the same port count as one. */
function portsOf({ localPort, remotePort }: Socket): string {
  return `${localPort} ${remotePort}`;
}

/** Bytes that wait for each client, by `portsOf`; none of systems without the table. */
async function readSendQueues(sockets: readonly Socket[]): Promise<ReadonlyMap<string, number>> {
  const wanted = new Set(sockets.map(portsOf));
  const queues = new Map<string, number>();
  for (const table of tables) {
    const lines = createInterface(createReadStream(table).on('error', () => lines.close()));
    for await (const line of lines) {
      const [, local = '', remote = '', queued = ''] = entry.exec(line) ?? [];
      const ports = `${Number.parseInt(local, 16)} ${Number.parseInt(remote, 16)}`;
      if (wanted.has(ports)) queues.set(ports, (queues.get(ports) ?? 0) + Number.parseInt(queued, 16));
    }
  }
  return queues;
}
