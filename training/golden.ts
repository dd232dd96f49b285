/** golden.ts [MODELS]: writes MODELS/<name>/golden.json with the shipped code, for every model folder. */
import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { digest, replay, syntheticSignal } from '../src/models/golden.ts';
import { loadModels } from '../src/models/registry.ts';

const seed = 1;
const seconds = 2;
const modelsDir = argv[2] ?? 'models';
const samples = syntheticSignal(seed, seconds);
const outputs = await replay(await loadModels(modelsDir), samples);
for (const [name, expected] of Object.entries(outputs)) {
  const golden = { signal: { seed, seconds }, digest: digest(samples), outputs: expected, tolerance: 1e-3 };
  writeFileSync(`${modelsDir}/${name}/golden.json`, `${JSON.stringify(golden, null, 2)}\n`);
}
