/** The order in which requests are handled: a few per turn of the event loop, networks by turns, pipelined requests last. */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { createFairQueue } from '../fair-share.ts';
import { networkOf } from '../network.ts';
import { isFollowed } from './request.ts';

const requestsPerTurn = 8;

type Task = { readonly socket: Socket; readonly network: string; readonly run: () => void };

/** @param trustedProxies that append the address of their client to X-Forwarded-For */
export function createRequestQueue(trustedProxies: number) {
  const single = createFairQueue<Task>(Number.POSITIVE_INFINITY);
  /** Requests of connections that have sent further ones, and requests after a response. */
  const pipelined = createFairQueue<Task>(Number.POSITIVE_INFINITY);
  /** Connections whose next request is handled at once. */
  const admitted = new WeakSet<Socket>();
  /** In this turn. */
  let handled = 0;
  let isScheduled = false;

  function schedule(): void {
    if (!isScheduled) setImmediate(nextTurn);
    isScheduled = true;
  }

  function start({ socket, run }: Task): void {
    handled++;
    if (!socket.destroyed) run();
  }

  /** A connection may have sent further requests since this one was added. */
  function next(): Task | null {
    for (let task = single.next(); task !== null; task = single.next()) {
      if (!isFollowed(task.socket)) return task;
      pipelined.add(task.network, task);
    }
    return pipelined.next();
  }

  function nextTurn(): void {
    isScheduled = false;
    handled = 0;
    // A flood of single requests does not stop clients that pipeline.
    for (let task = pipelined.next() ?? next(); task !== null; task = next()) {
      schedule();
      start(task);
      if (handled === requestsPerTurn) return;
    }
  }

  function pipeline(socket: Socket, network: string, parse: () => void): void {
    const run = () => {
      admitted.add(socket);
      parse();
    };
    schedule();
    pipelined.add(network, { socket, network, run });
  }

  return {
    /** Handles the request now, or after those that wait. */
    add(request: IncomingMessage, handle: () => void): void {
      const { socket } = request;
      schedule();
      if (admitted.delete(socket)) {
        handle();
      } else if (handled < requestsPerTurn && single.size() + pipelined.size() === 0) {
        handled++;
        handle();
      } else {
        const network = networkFor(request, trustedProxies);
        single.add(network, { socket, network, run: handle });
      }
    },
    /** @returns a function that parses the request in its turn: until then it is bytes, and nothing keeps `request` */
    postpone(request: IncomingMessage): (parse: () => void) => void {
      return pipeline.bind(null, request.socket, networkFor(request, trustedProxies));
    },
  };
}

function networkFor({ headers, socket }: IncomingMessage, trustedProxies: number): string {
  const forwarded = headers['x-forwarded-for'];
  const addresses = trustedProxies > 0 && typeof forwarded === 'string' ? forwarded.split(',') : [];
  return networkOf(addresses.slice(-trustedProxies)[0]?.trim() ?? socket.remoteAddress ?? '');
}
