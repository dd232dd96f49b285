/** A thread that computes features, and pitch when both signals are asked, and runs a graph of one node on them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parentPort, threadId, workerData } from 'node:worker_threads';
import { decode, extract, trackProsody } from '../../src/node/addon.ts';
import { specs } from '../../src/node/feature-specs.ts';
import { openSession } from '../../src/node/onnx.ts';
import { readForm } from '../../src/service/form.ts';
import type { FormTask, Reply, ThreadSettings } from '../../src/service/workers/protocol.ts';
import { graphFile } from './graph.ts';

const sampleRate = 16_000;

export const run = start(workerData as ThreadSettings);

async function start({ limits }: ThreadSettings): Promise<(task: FormTask) => Promise<Reply>> {
  const session = await openSession(readFileSync(join(process.cwd(), graphFile)));
  const spec = specs['whisper-log-mel-80'];
  if (spec === undefined) throw new Error('Expected the spec `whisper-log-mel-80`, got none');
  parentPort?.postMessage({ ready: threadId });
  return async ({ body, boundary, signals, requestId }) => {
    const { audio } = readForm(Buffer.concat(body), boundary);
    const { samples } = decode(audio, { sampleRate, channel: null, track: null, limits, cancel: null });
    const { data, frames, bins } = extract(samples, spec);
    const { mean } = await session.run({ features: { data, shape: [1, frames, bins] } });
    const pitch = signals.length > 1 ? middle((await trackProsody(samples, sampleRate)).pitchHz) : null;
    const answer = { mean: Array.from(mean?.data ?? []), pitch, request_id: requestId };
    return {
      kind: 'report',
      json: Uint8Array.from(Buffer.from(JSON.stringify(answer))),
      stages: [],
      audioSeconds: 0,
    };
  };
}

/** Median of the voiced frames. */
function middle(pitchHz: Float32Array): number {
  const voiced = pitchHz.filter((hz) => hz > 0).sort();
  return voiced[Math.floor(voiced.length / 2)] ?? 0;
}
