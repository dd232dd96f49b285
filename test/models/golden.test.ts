import test from 'ava';
import { goldenDifferences, kinds } from '../../src/engine/loader.ts';
import { loadModels, readGolden } from '../../src/node/models.ts';
import { modelSets } from '../../src/node/paths.ts';

const folders = modelSets.map((name) => `models/${name}`);
const sets = await Promise.all(folders.map(async (folder) => [folder, await loadModels(folder)] as const));

for (const [folder, loaded] of sets) {
  for (const name of kinds) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, await readGolden(folder, name), name), []);
    });
  }
}
