/** As worker-faults, but of all threads after the first two none begins to work. */
import { createRequire } from 'node:module';
import './worker-faults.mjs';

const threads = createRequire(import.meta.url)('node:worker_threads');
const { Worker } = threads;
let made = 0;
threads.Worker = class extends Worker {
  constructor(file, options) {
    if (made++ < 2) super(file, options);
    else super('setInterval(() => {}, 1000)', { ...options, eval: true });
  }
};
