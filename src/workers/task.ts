/** The file that each analysis thread runs: loads the models once, then answers one task at a time. */
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol } from 'piscina';
import { type Analyzer, createAnalyzer } from '../analyze.ts';
import { syntheticSignal } from '../models/golden.ts';
import { answer } from './answer.ts';
import type { Reply, TaskMessage, ThreadReady, ThreadSettings } from './messages.ts';

const warmUpSeconds = 2;

/** The pool awaits this export before it gives the thread any task. */
export const run = start(workerData as ThreadSettings);

async function start(settings: ThreadSettings): Promise<(task: TaskMessage) => Promise<unknown>> {
  const analyzer = await createAnalyzer(settings);
  await warm(analyzer);
  parentPort?.postMessage({ ready: threadId } satisfies ThreadReady);
  return async (task) => transferred(await answer(analyzer, task));
}

/** Reports leave the thread without a copy. */
function transferred(reply: Reply): unknown {
  if (reply.kind !== 'report') return reply;
  return move({ [transferableSymbol]: [reply.json.buffer], [valueSymbol]: reply });
}

/** The first run of a session and the first decode cost more than the later ones: before any request. */
async function warm(analyzer: Analyzer): Promise<void> {
  const audio = wav(syntheticSignal(1, warmUpSeconds), 16_000);
  const request = {
    audio,
    baseline: null,
    channel: null,
    signals: ['emotion', 'cognitive'],
    cancel: null,
  } as const;
  await analyzer.analyze(request);
}

/** A 16-bit mono WAV file (RIFF, PCM). */
function wav(samples: Float32Array, sampleRate: number): Uint8Array {
  const bytes = Buffer.alloc(44 + 2 * samples.length);
  bytes.write('RIFF', 0, 'latin1');
  bytes.writeUInt32LE(bytes.length - 8, 4);
  bytes.write('WAVEfmt ', 8, 'latin1');
  bytes.writeUInt32LE(16, 16);
  bytes.writeUInt16LE(1, 20);
  bytes.writeUInt16LE(1, 22);
  bytes.writeUInt32LE(sampleRate, 24);
  bytes.writeUInt32LE(2 * sampleRate, 28);
  bytes.writeUInt16LE(2, 32);
  bytes.writeUInt16LE(16, 34);
  bytes.write('data', 36, 'latin1');
  bytes.writeUInt32LE(2 * samples.length, 40);
  samples.forEach((sample, index) => {
    bytes.writeInt16LE(Math.round(sample * 32_767), 44 + 2 * index);
  });
  return bytes;
}
