/** The request id selects a fault of the worker: a death, or a delay with the worker's id in the response. */
import { isMainThread, MessagePort, threadId } from 'node:worker_threads';

const { stringify } = JSON;
const holdMs = 100;
const nobody = new Int32Array(new SharedArrayBuffer(4));

const deaths = {
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

if (!isMainThread) {
  JSON.stringify = (value, ...rest) => {
    const [, order, way] = /^(die|hold)-(\w+)/.exec(value?.request_id ?? '') ?? [];
    if (order === 'die') deaths[way]();
    if (order === 'hold') Atomics.wait(nobody, 0, 0, holdMs);
    return stringify(order ? { ...value, worker: threadId } : value, ...rest);
  };
}
