import { readdirSync } from 'node:fs';
import test from 'ava';
import { loadModels } from '../../src/node/models.ts';
import { shippedModels } from '../../src/node/paths.ts';
import { describeSoftware } from '../../src/service/compose-receipt.ts';

test('a receipt names every model of the set that is loaded, one of another kind too', async (t) => {
  const models = await loadModels(shippedModels);
  const folders = readdirSync(shippedModels, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const namesOf = (loaded: typeof models) =>
    describeSoftware(loaded)
      .models.map(({ name }) => name)
      .sort();
  t.deepEqual(namesOf(models), folders.map(({ name }) => name).sort());
  const third = { ...models.emotion.manifest, name: 'third' };
  const manifests = [...models.manifests, third];
  t.deepEqual(namesOf({ ...models, manifests }), [...folders.map(({ name }) => name), 'third'].sort());
});
