/**
 * Entry file of an analysis process: reads tasks from its socket and replies, one at a time. A native thread reads the
 * numbers of the tasks to stop, and ends the process with the service.
 */
import { readSync, writeFileSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { watchStops } from '../audio/addon.ts';
import { openAnalysis } from './analysis.ts';
import { encodeFrame, readFrame } from './frames.ts';
import {
  type ProcessCommand,
  type ProcessMessage,
  type ProcessStart,
  type Reply,
  sockets,
} from './protocol.ts';

/** On memory exhaustion the kernel kills this process rather than the service. */
const oomScore = '500';
/** A flag per task, in turn. */
const flags = new Int32Array(new SharedArrayBuffer(1024 * Int32Array.BYTES_PER_ELEMENT));

// Terminals and supervisors signal every process of the group; the service stops its own.
process.on('SIGINT', () => {});
process.on('SIGTERM', () => {});
process.on('uncaughtException', reportLoss);
raiseOomScore();
watchStops(sockets.stops, flags);
serve().catch(reportLoss);

async function serve(): Promise<void> {
  const start = readFrame<ProcessStart>(readAll);
  if (start === null) return;
  const { settings, file } = start.message;
  const open = file === undefined ? openAnalysis : (await import(pathToFileURL(file).href)).open;
  const worker: Awaited<ReturnType<typeof openAnalysis>> = await open(settings);
  send({ kind: 'ready' });
  for (;;) {
    const frame = readFrame<ProcessCommand>(readAll);
    if (frame === null) return;
    const { task, number, hasIdleCores } = frame.message;
    const at = number % flags.length;
    // A stop that arrives late sets the flag of a task that has ended: it is cleared long before its next use.
    Atomics.store(flags, (at + flags.length / 2) % flags.length, 0);
    const cancel = flags.subarray(at, at + 1);
    sendReply(await worker.handle({ ...task, body: [frame.bytes], cancel, hasIdleCores }), worker.isFull());
  }
}

function sendReply(reply: Reply, isFull: boolean): void {
  if (reply.kind !== 'report') {
    send({ kind: 'reply', reply, jsonBytes: 0, isFull });
  } else {
    const { json, signed, ...rest } = reply;
    const blocks = signed === undefined ? [json] : [json, signed];
    send({ kind: 'reply', reply: rest, jsonBytes: json.length, isFull }, blocks);
  }
}

function reportLoss(cause: Error): void {
  send({ kind: 'lost', cause: cause.stack ?? cause.message });
  process.kill(process.pid, 'SIGKILL');
}

function send(message: ProcessMessage, blocks: readonly Uint8Array[] = []): void {
  for (const block of encodeFrame(message, blocks)) {
    for (let at = 0; at < block.length; ) at += writeSync(sockets.frames, block, at);
  }
}

function readAll(target: Uint8Array): boolean {
  for (let at = 0; at < target.length; ) {
    const count = readSync(sockets.frames, target, at, target.length - at, null);
    if (count === 0) return false;
    at += count;
  }
  return true;
}

function raiseOomScore(): void {
  try {
    writeFileSync('/proc/self/oom_score_adj', oomScore);
  } catch {
    // Not every system has this file.
  }
}
