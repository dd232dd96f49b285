/** Names and rules of sets of models. */
import test from 'ava';
import { loadModels } from '../../src/node/models.ts';
import { nameSets } from '../../src/node/paths.ts';
import { type Json, withManifest } from '../support/models.ts';

test('two sets have the names of their folders, and of those around them where these are equal', (t) => {
  t.deepEqual(nameSets('/srv/standard', '/srv/mine'), ['standard', 'mine']);
  t.deepEqual(nameSets('/srv/v1/models', '/srv/v2/models'), ['v1/models', 'v2/models']);
});

test('moments need both intervals', async (t) => {
  const models = await withManifest(t, 'emotion', ({ params }) => {
    (params as Json).intervals = { valence: null, arousal: null };
  });
  await t.throwsAsync(loadModels(models), { message: /moments/ });
});
