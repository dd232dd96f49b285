/** All models over ten seconds of audio on one thread: VAD, trunk and both heads, as one request runs them. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { cpuUsage } from 'node:process';
import type { Models } from '../../src/engine/loader.ts';
import { syntheticSignal } from '../../src/engine/loader.ts';
import type { Values } from '../../src/engine/platform.ts';
import { extract } from '../../src/node/addon.ts';
import { loadModels } from '../../src/node/models.ts';
import { figure, type Row, root, withinLimit } from '../case.ts';

const seconds = 10;
const runs = process.argv.includes('--long') ? 200 : 60;
const warmUps = 5;
const megabytes = 8;
const variants = [
  { name: 'default', folder: 'models/standard', ms: 25 },
  { name: 'fast alternative', folder: 'models/fast', ms: 8 },
] as const;
const kinds = ['vad', 'trunk', 'emotion', 'cognitive'];

async function infer(models: Models, features: Values): Promise<void> {
  await models.vad.session.run({ features });
  const { tokens } = (await models.trunk.session.run({ features })) as { tokens: Values };
  const count = tokens.shape[1] as number;
  const weights: Values = { data: new Float32Array(count).fill(1), shape: [1, count] };
  await models.emotion.session.run({ tokens, weights });
  await models.cognitive.session.run({ tokens, weights });
}

/** Milliseconds of processor time, run by run. */
async function costs(folder: string): Promise<number[]> {
  const models = await loadModels(join(root, folder));
  const { data, frames, bins } = extract(syntheticSignal(1, seconds), models.features);
  const found: number[] = [];
  for (let run = -warmUps; run < runs; run++) {
    const before = cpuUsage();
    await infer(models, { data, shape: [1, frames, bins] });
    const { user, system } = cpuUsage(before);
    if (run >= 0) found.push((user + system) / 1000);
  }
  return found;
}

function largest(folder: string): number {
  return Math.max(...kinds.map((kind) => statSync(join(root, folder, kind, 'weights.onnx')).size / 1e6));
}

export async function run(): Promise<readonly Row[]> {
  const rows: Row[] = [];
  for (const { name, folder, ms } of variants) {
    const spent = figure(await costs(folder));
    rows.push(
      withinLimit(ms, `all models, ${seconds} s, ${name}`, 'ms of one core', spent, `${runs} runs`),
      withinLimit(megabytes, `largest weights, ${name}`, 'MB', figure([largest(folder)])),
    );
  }
  return rows;
}
