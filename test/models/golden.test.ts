import test from 'ava';
import { goldenDifferences, kinds } from '../../src/models/golden.ts';
import { loadModels } from '../../src/models/loader.ts';

const models = await loadModels('models/standard');
const sets = { 'models/standard': models, 'models/fast': await loadModels('models/fast') };

for (const [folder, loaded] of Object.entries(sets)) {
  for (const name of kinds) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, folder, name), []);
    });
  }
}
