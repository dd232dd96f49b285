/** golden.ts [MODELS]: writes MODELS/<name>/golden.json, the outputs of the shipped code for a synthetic signal. */
import { writeFileSync } from 'node:fs';
import { argv } from 'node:process';
import { goldensOf } from '../../src/engine/golden.ts';
import { loadModels } from '../../src/node/models.ts';

const modelsDir = argv[2] ?? 'models/standard';
for (const [name, golden] of Object.entries(await goldensOf(await loadModels(modelsDir)))) {
  writeFileSync(`${modelsDir}/${name}/golden.json`, `${JSON.stringify(golden, null, 2)}\n`);
}
