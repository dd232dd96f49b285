/** A thread that scans the upload and answers at once: what is left is the cost of a request itself. */
import { parentPort, threadId } from 'node:worker_threads';
import { readForm } from '../../src/service/form.ts';
import type { FormTask, Reply } from '../../src/service/workers/protocol.ts';

export const run = start();

async function start(): Promise<(task: FormTask) => Promise<Reply>> {
  parentPort?.postMessage({ ready: threadId });
  return async ({ body, boundary, requestId }) => {
    const { audio } = readForm(Buffer.concat(body), boundary);
    const json = Buffer.from(JSON.stringify({ bytes: audio.byteLength, request_id: requestId }));
    return { kind: 'report', json: Uint8Array.from(json), stages: [], audioSeconds: 0 };
  };
}
