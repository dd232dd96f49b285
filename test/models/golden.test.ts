import test from 'ava';
import { loadModels } from '../../src/models/loader.ts';
import { goldenDifferences, names, readGolden } from '../support/golden.ts';

const models = await loadModels('models/standard');
const sets = { 'models/standard': models, 'models/fast': await loadModels('models/fast') };

for (const [folder, loaded] of Object.entries(sets)) {
  for (const name of names) {
    test(`${name} of ${folder} replays its golden`, async (t) => {
      t.deepEqual(await goldenDifferences(loaded, folder, name), []);
    });
  }
}

test('one label per probability, in the documented order', async (t) => {
  const { labels } = models.emotion.manifest;
  t.deepEqual(labels, ['neutral', 'calm', 'happy', 'sad', 'angry', 'fearful', 'disgusted', 'surprised']);
  t.deepEqual((await readGolden('models/standard', 'emotion')).outputs.probabilities?.shape, [
    1,
    labels?.length,
  ]);
});
