import test from 'ava';
import { loadModels } from '../../src/models/loader.ts';
import { goldenDifferences, names } from '../support/golden.ts';

const models = await loadModels('models/standard');
const sets = { 'models/standard': models, 'models/fast': await loadModels('models/fast') };

for (const [folder, loaded] of Object.entries(sets)) {
  for (const name of names) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, folder, name), []);
    });
  }
}
