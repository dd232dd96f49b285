/** Preloaded by the service before its own scripts: faults to be found, and instruments. The query of the URL names them: `?NAME,NAME`. */
import { subscribe } from 'node:diagnostics_channel';
import { appendFileSync, openSync } from 'node:fs';
import http, { ServerResponse } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { isMainThread, MessagePort, threadId } from 'node:worker_threads';

const onRequest = (listen) => subscribe('http.server.request.start', listen);
const leakedBytes = () => Buffer.alloc(Number(process.env.LEAKED_BYTES), 1);
const hourMs = 3_600_000;
const comma = 0x2c;
const commaMs = 0.1;
const jobSlots = 100;
const holdMs = 100;

/** Calls `listen` with each chunk of each request body. */
function onBody(listen) {
  onRequest(({ request }) => {
    const { emit } = request;
    request.emit = function (event, ...rest) {
      if (event === 'data') listen(rest[0]);
      return emit.apply(this, [event, ...rest]);
    };
  });
}

const workerDeaths = {
  exit: () => process.exit(3),
  // The reply cannot be sent: an uncaught error.
  throw: () => {
    MessagePort.prototype.postMessage = () => {
      throw new Error('planted');
    };
  },
  exhaust: () => {
    const hoard = [];
    for (;;) hoard.push(new Array(100_000).fill(hoard.length));
  },
  segfault: () => process.kill(process.pid, 'SIGSEGV'),
};

const faults = {
  /** An upload of a job reserves one of 100 slots at its headers; without a free slot every request is refused. */
  'early-slots'() {
    let held = 0;
    onRequest(({ request, response }) => {
      if (held >= jobSlots && request.url !== '/ready' && request.url !== '/metrics') {
        response.writeHead(503, { 'Retry-After': '1', 'Content-Type': 'application/json' });
        response.end('{"code":"overloaded"}');
      } else if (request.method === 'POST' && request.url === '/v1/jobs') {
        held++;
        response.once('close', () => held--);
      }
    });
  },
  /** The service exits on the first 503. */
  'exit-on-503'() {
    const { writeHead } = ServerResponse.prototype;
    ServerResponse.prototype.writeHead = function (status, ...rest) {
      if (status === 503) process.exit(1);
      return writeHead.call(this, status, ...rest);
    };
  },
  /** The service exits on the first request after its clock was set. */
  'exit-on-step'() {
    onRequest(() => {
      const stepMs = Math.abs(Date.now() - performance.timeOrigin - performance.now());
      if (stepMs > hourMs) process.exit(1);
    });
  },
  /** SIGTERM exits without waiting for requests. */
  'immediate-exit'() {
    process.on('SIGTERM', () => process.exit(0));
  },
  /** Streams are read to their end before anything of them is sent. */
  'whole-streams'() {
    const { from } = Readable;
    Readable.from = (pieces, ...rest) => {
      async function* whole() {
        const all = [];
        for await (const piece of pieces) all.push(Buffer.from(piece));
        yield Buffer.concat(all);
      }
      return from.call(Readable, whole(), ...rest);
    };
  },
  /** Leaks LEAKED_BYTES for each request. */
  'leaked-bytes'() {
    const kept = [];
    onRequest(() => kept.push(leakedBytes()));
  },
  /** One request in twenty leaks a descriptor. */
  'leaked-descriptors'() {
    let requests = 0;
    onRequest(() => {
      if (requests++ % 20 === 0) openSync('/dev/null');
    });
  },
  /** Leaks every connection with LEAKED_BYTES. */
  'leaked-sockets'() {
    const kept = [];
    subscribe('net.server.socket', ({ socket }) => kept.push(socket, leakedBytes()));
  },
  /** The service handles all requests of a read at once, as Node.js does by default. */
  'parallel-requests'() {
    const { createServer } = http;
    http.createServer = ({ IncomingMessage: _, ...options }, ...rest) => createServer(options, ...rest);
    syncBuiltinESMExports();
  },
  /** Collects garbage every second in every thread, so that the resident set is live memory. */
  'periodic-gc'() {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc');
    setInterval(collect, 1000).unref();
  },
  /** Writes tokens and bodies to the log and to disk. */
  'request-recorder'() {
    const file = join(process.env.UNDERTONE_DATA_DIR, 'kept');
    onRequest(({ request }) => process.stderr.write(`${request.headers.authorization}\n`));
    onBody((bytes) => appendFileSync(file, bytes));
  },
  /** Every comma of a body costs the main thread 100 microseconds. */
  'slow-fields'() {
    onBody((bytes) => {
      const until = performance.now() + commaMs * bytes.filter((byte) => byte === comma).length;
      while (performance.now() < until);
    });
  },
  /** The header X-Fault causes an internal error. */
  'throwing-host'() {
    onRequest(({ request: { headers } }) => {
      if (headers['x-fault'] === undefined) return;
      Object.defineProperty(headers, 'host', {
        get() {
          throw new Error('a fault that was put in');
        },
      });
    });
  },
  /** Live sessions read without the limits of frames, which replace the method `push` of a socket. */
  'unlimited-frames'() {
    const { push } = Socket.prototype;
    Object.defineProperty(Socket.prototype, 'push', { get: () => push, set: () => {} });
  },
  /** No connection seems to have bytes that wait for its client. */
  'unseen-responses'() {
    Object.defineProperty(Socket.prototype, 'writableLength', { get: () => 0 });
  },
  /** The request id selects a fault of the worker: a death, or a delay with the worker's id in the response. */
  'worker-faults'() {
    if (isMainThread) return;
    const { stringify } = JSON;
    const nobody = new Int32Array(new SharedArrayBuffer(4));
    JSON.stringify = (value, ...rest) => {
      const [, order, way] = /^(die|hold)-(\w+)/.exec(value?.request_id ?? '') ?? [];
      if (order === 'die') workerDeaths[way]();
      if (order === 'hold') Atomics.wait(nobody, 0, 0, holdMs);
      return stringify(order ? { ...value, worker: threadId } : value, ...rest);
    };
  },
};

for (const name of new URL(import.meta.url).search.slice(1).split(',')) faults[name]();
