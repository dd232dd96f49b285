import test from 'ava';
import { loadModels, readGolden } from '../../src/models/folders.ts';
import { goldenDifferences, kinds } from '../../src/models/golden.ts';
import { modelSets } from '../../src/runtime/paths.ts';

const folders = modelSets.map((name) => `models/${name}`);
const sets = await Promise.all(folders.map(async (folder) => [folder, await loadModels(folder)] as const));

for (const [folder, loaded] of sets) {
  for (const name of kinds) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, await readGolden(folder, name), name), []);
    });
  }
}
