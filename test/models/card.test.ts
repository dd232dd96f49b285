/** The evidence of cards and /v1/models is complete, in range and measured on the shipped weights. */
import { readFile } from 'node:fs/promises';
import test from 'ava';
import { kinds } from '../../src/engine/loader.ts';
import { readManifests } from '../../src/node/models.ts';
import { evidenceCards } from '../../src/service/http/routes/routes.ts';

const manifests = await readManifests('models/standard');
type Run = { readonly models: Record<string, { readonly version: string; readonly sha256: string }> };

for (const { name, training, licence, evidence, weights } of manifests) {
  test(`the card of ${name} repeats its manifest`, async (t) => {
    const card = await readFile(`models/standard/${name}/CARD.md`, 'utf8');
    for (const { name: set, licence: terms, clips } of training.data) {
      t.true(card.includes(`| ${set} | ${terms} | ${clips} |`), set);
    }
    const lists = [training.limits, evidence.failures, evidence.intendedUse, evidence.unintendedUse];
    for (const text of [licence, evidence.deployment, ...lists.flat()]) t.true(card.includes(text), text);
    for (const { figure, group, value } of evidence.figures) {
      t.true(card.includes(`| ${figure} | ${group} | ${value.toFixed(3)} |`), `${figure}, ${group}`);
    }
    t.regex(weights.sha256, /^[0-9a-f]{64}$/);
  });
}

test('figures lie in their range, and their intervals in order', (t) => {
  for (const { figure, group, value, interval, speakers, clips } of manifests.flatMap(
    (m) => m.evidence.figures,
  )) {
    const what = `${figure}, ${group}`;
    t.true(clips >= speakers, what);
    // Per minute, no score.
    if (figure.startsWith('hesitation_rate')) continue;
    t.true(value >= -1 && value <= 1, what);
    if (interval !== null) t.true(interval[0] <= interval[1] && interval[0] >= -1 && interval[1] <= 1, what);
  }
});

test('the figures are of the recipe of the shipped weights: `npm run evaluate -- --write`', async (t) => {
  const { standard } = JSON.parse(await readFile('training/results/metrics.json', 'utf8')) as {
    standard: Run;
  };
  // The voice model has its figures in docs/results/calls.md.
  for (const { name, version, weights } of manifests.filter(({ kind }) => kind !== 'voice')) {
    t.deepEqual(standard.models[name], { version, sha256: weights.sha256 }, name);
  }
});

test('/v1/models serves the evidence of every model', (t) => {
  const { models } = JSON.parse(evidenceCards(manifests)) as { models: Record<string, unknown>[] };
  const published = [...kinds, 'voice'].map((name) => (name === 'vad' ? 'activity' : name));
  t.deepEqual(models.map(({ kind }) => kind).sort(), published.sort());
  models.forEach((card, index) => {
    const { evidence, training, licence } = manifests[index] as (typeof manifests)[number];
    t.like(card, { data: training.data, licence, limits: training.limits, figures: evidence.figures });
    t.like(card, { failures: evidence.failures, deployment: evidence.deployment });
    t.like(card, { intended_use: evidence.intendedUse, unintended_use: evidence.unintendedUse });
  });
});
