/** Sessions of ONNX Runtime. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import type { Values } from '../../src/engine/platform.ts';
import { openSession } from '../../src/node/onnx.ts';
import { shippedModels } from '../../src/node/paths.ts';

const bins = 80;

test('the trunk has the same bits with every number of threads', async (t) => {
  const weights = readFileSync(join(shippedModels, 'trunk', 'weights.onnx'));
  for (const frames of [1, 203, 1000]) {
    const data = Float32Array.from({ length: frames * bins }, (_, index) => Math.sin(index * index) - 3);
    const run = async (threads: number) => {
      const session = await openSession(weights, threads);
      return ((await session.run({ features: { data, shape: [1, frames, bins] } })).tokens as Values).data;
    };
    const alone = await run(1);
    for (const threads of [2, 3, 4]) t.deepEqual(await run(threads), alone, `${frames} frames, ${threads}`);
  }
});
