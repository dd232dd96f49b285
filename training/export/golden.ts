/** golden.ts [MODELS]: writes MODELS/<name>/golden.json, the outputs of the shipped code for a synthetic signal. */
import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { digest, replay, syntheticSignal } from '../../src/models/golden.ts';
import { loadModels } from '../../src/models/loader.ts';

/** With seed 1 a wrong feature spec hardly changes clarity. */
const seed = 2;
const seconds = 2;
const modelsDir = argv[2] ?? 'models/standard';
const samples = syntheticSignal(seed, seconds);
const models = await loadModels(modelsDir);
const outputs = await replay(models, samples);
for (const { manifest } of [models.vad, models.trunk, models.emotion, models.cognitive]) {
  const { name, kind, labels } = manifest;
  const golden = {
    signal: { seed, seconds },
    digest: digest(samples),
    labels,
    outputs: outputs[kind],
    tolerance: 1e-3,
  };
  writeFileSync(`${modelsDir}/${name}/golden.json`, `${JSON.stringify(golden, null, 2)}\n`);
}
