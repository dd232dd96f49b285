/** A server in front of the service that spoils some of its answers: what a check must find. */
import { type IncomingMessage, request, type ServerResponse } from 'node:http';
import { withListener } from '../service.ts';

export type Spoil = (answer: { status: number; body: string }, response: ServerResponse) => void;

/** The planted faults, by name. */
export const spoils = {
  'answers 500': (_, response) => response.writeHead(500).end('{}'),
  'says NaN': ({ status, body }, response) => json(response, status, body.replace(/:0[.\d]*/, ':NaN')),
  'says infinity': ({ status, body }, response) => json(response, status, body.replace(/:0[.\d]*/, ':1e999')),
  'leaves a field out': ({ status, body }, response) =>
    json(response, status, body.replace('"request_id"', '"id"')),
  'hangs up': (_, response) => response.destroy(),
} as const satisfies Readonly<Record<string, Spoil>>;

function json(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(body);
}

/** Every so manyeth upload is spoilt. */
const spoilEvery = 10;

export function withSpoilt<Result>(
  port: number,
  spoil: Spoil,
  work: (port: number) => Promise<Result>,
): Promise<Result> {
  let uploads = 0;
  return withListener((incoming, response) => {
    const spoilt = incoming.method === 'POST' && ++uploads % spoilEvery === 0;
    forward(incoming, response, port, (status, body) => {
      if (spoilt) spoil({ status, body }, response);
      else json(response, status, body);
    });
  }, work);
}

function forward(
  incoming: IncomingMessage,
  response: ServerResponse,
  port: number,
  done: (status: number, body: string) => void,
): void {
  const { method, url, headers } = incoming;
  const options = { port, host: '127.0.0.1', method, path: url, headers } as const;
  const sent = request(options, (answer) => {
    const chunks: Buffer[] = [];
    answer.on('data', (chunk: Buffer) => chunks.push(chunk));
    answer.on('end', () => done(answer.statusCode ?? 0, Buffer.concat(chunks).toString()));
  });
  sent.on('error', () => response.destroy());
  incoming.on('error', () => sent.destroy());
  incoming.pipe(sent);
}
