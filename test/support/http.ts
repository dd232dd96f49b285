/** Requests over real sockets: whole ones, and bytes as they come. */
import { type Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';

export type Reply = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
};

export type Call = {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
  readonly agent?: Agent;
};

/** One request, on a connection of its own unless it has an agent. */
export function call(port: number, one: Call): Promise<Reply> {
  const { method = 'GET', path, headers = {}, body, agent = false } = one;
  return new Promise((resolve, reject) => {
    const sent = request({ port, host: '127.0.0.1', method, path, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

export type Wire = {
  readonly socket: Socket;
  /** Everything that came so far. */
  text(): string;
  /** Resolves when what came matches. */
  until(pattern: RegExp): Promise<string>;
  /** Resolves with everything once the other side has ended; the error of the connection is part of it. */
  ended(): Promise<string>;
};

export async function wire(port: number): Promise<Wire> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  let over = false;
  const listeners = new Set<() => void>();
  const wake = () => {
    for (const listener of [...listeners]) listener();
  };
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1');
    wake();
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    text += `<${error.code}>`;
  });
  const finish = () => {
    over = true;
    wake();
  };
  socket.on('end', finish);
  socket.on('close', finish);
  await new Promise((resolve) => socket.once('connect', resolve));
  const wait = (done: () => boolean) =>
    new Promise<string>((resolve) => {
      const look = () => {
        if (!done() && !over) return;
        listeners.delete(look);
        resolve(text);
      };
      listeners.add(look);
      look();
    });
  return {
    socket,
    text: () => text,
    until: (pattern) => wait(() => pattern.test(text)),
    ended: () => wait(() => false),
  };
}

/** Sends bytes on a connection of their own. @returns everything that came back until the server closed it */
export async function exchangeBytes(port: number, bytes: string): Promise<string> {
  const client = await wire(port);
  client.socket.write(bytes, 'latin1');
  const answer = await client.ended();
  client.socket.destroy();
  return answer;
}

export const bodyOf = (answer: string): string => answer.slice(answer.indexOf('\r\n\r\n') + 4);

/** Bytes of request bodies that a service holds. */
export async function heldBytes(port: number): Promise<number> {
  const { body } = await call(port, { path: '/metrics' });
  return Number(/^undertone_held_bytes (\d+)$/m.exec(body)?.[1]);
}
