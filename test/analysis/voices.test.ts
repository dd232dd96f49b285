/** Clusters of vectors, the sequence of voices, and the voices of several chunks. */
import test from 'ava';
import {
  centroidsOf,
  decodeSequence,
  kMeans,
  largestSimilarity,
  marginOf,
} from '../../src/engine/clustering.ts';
import { addParts, type KnownPart } from '../../src/engine/live-voices.ts';
import { type ChunkVoice, joinVoices } from '../../src/engine/voices.ts';
import { loadModels } from '../../src/node/models.ts';

const { params } = (await loadModels('models/standard')).voice?.manifest ?? {};
const at = (angle: number) => Float32Array.of(Math.cos(angle), Math.sin(angle));
const alike = (vectors: readonly unknown[]) => vectors.map(() => 1);

test('k-means finds the groups, the same for every run', (t) => {
  const vectors = [0, 1.5, 0.1, 3, 1.6, 3.1, 0.2, 2.9].map(at);
  const { centroids, labels } = kMeans(vectors, alike(vectors), 3);
  const groups = [0, 1, 2].map((label) => [...labels.keys()].filter((index) => labels[index] === label));
  t.deepEqual(
    groups.sort(([one = 0], [other = 0]) => one - other),
    [
      [0, 2, 6],
      [1, 4],
      [3, 5, 7],
    ],
  );
  for (const centroid of centroids) t.true(Math.abs(Math.hypot(...centroid) - 1) < 1e-6);
  t.deepEqual(kMeans(vectors, alike(vectors), 3), { centroids, labels });
});

test('fewer vectors than clusters are as many clusters, and equal ones are one', (t) => {
  t.is(kMeans([at(0), at(1)], [1, 1], 6).centroids.length, 2);
  t.is(kMeans([at(1), at(1), at(1)], [1, 1, 1], 3).centroids.length, 1);
  t.deepEqual(kMeans([], [], 2), { centroids: [], labels: [] });
});

test('a weight counts as so many vectors', (t) => {
  const [heavy] = centroidsOf([at(0), at(1)], [3, 1], [0, 0]);
  const [repeated] = centroidsOf([at(0), at(0), at(0), at(1)], [1, 1, 1, 1], [0, 0, 0, 0]);
  t.deepEqual(heavy, repeated);
});

test('the margin is that to the next centroid', (t) => {
  const voices = [at(0), at(2), at(3)];
  t.true(Math.abs(marginOf(at(0.5), 0, voices) - (Math.cos(0.5) - Math.cos(1.5))) < 1e-6);
  t.true(marginOf(at(0.5), 1, voices) < 0);
  t.is(marginOf(at(0.5), 0, [at(0)]), Number.POSITIVE_INFINITY);
  t.is(largestSimilarity([at(0)]), -1);
  t.true(Math.abs(largestSimilarity([at(0), at(2), at(1)]) - Math.cos(1)) < 1e-6);
});

test('a change of the voice has to be worth its cost', (t) => {
  const voices = [at(0), at(1.5)];
  const steps = (angles: readonly number[]) => angles.map(at);
  t.deepEqual(decodeSequence(steps([0, 0, 1.5, 0, 0]), voices, 1), [0, 0, 0, 0, 0]);
  t.deepEqual(decodeSequence(steps([0, 0, 1.5, 0, 0]), voices, 0.1), [0, 0, 1, 0, 0]);
  t.deepEqual(decodeSequence(steps([0, 0, 1.5, 1.5, 1.5]), voices, 1), [0, 0, 1, 1, 1]);
  t.deepEqual(decodeSequence([], voices, 1), []);
});

const execution = { yieldToOthers: async () => {} };
const voice = (angle: number, seconds = 10): ChunkVoice => ({ vector: at(angle), seconds });

test('voices of chunks are joined, whatever their order there', async (t) => {
  if (params === undefined) return t.fail();
  const chunks = [[voice(0), voice(2)], [voice(2.1), voice(0.1)], [voice(1.9)]];
  const [first = [], second = [], third = []] = await joinVoices(chunks, '2', params, execution);
  t.deepEqual([second, third], [[first[1], first[0]], [first[1]]]);
  t.deepEqual(await joinVoices(chunks, 'auto', params, execution), [first, second, third]);
  t.deepEqual(await joinVoices([[voice(0)], [voice(0.3)]], 'auto', params, execution), [[0], [0]]);
});

test('auto counts no voice of little speech', async (t) => {
  if (params === undefined) return t.fail();
  const chunks = [[voice(0)], [voice(0)], [voice(2, 0.9 * params.two.minSeconds)]];
  t.deepEqual(await joinVoices(chunks, 'auto', params, execution), [[0], [0], [0]]);
  t.is(new Set((await joinVoices(chunks, '2', params, execution)).flat()).size, 2);
});

test('a stream numbers voices as they are found, and keeps a bounded number of parts', async (t) => {
  if (params === undefined) return t.fail('expected a voice model');
  let known: readonly KnownPart[] = [];
  const found: (number | null)[] = [];
  // One voice, then another one, then both in turn.
  const angles = [
    0,
    0.1,
    2,
    2.1,
    ...Array.from({ length: 300 }, (_, index) => (index % 2) * 2 + 0.01 * (index % 7)),
  ];
  for (const angle of angles) {
    const next = await addParts(known, [{ vector: at(angle), seconds: 2.5, end: 0 }], 'auto', params);
    found.push(...next.voices);
    known = next.known;
  }
  t.deepEqual(found, [0, 0, 1, 1, ...Array.from({ length: 300 }, (_, index) => index % 2)]);
  t.is(known.length, 100);
  t.is(known.filter(({ voice }) => voice === 1).length, 50, 'as many of each');
  t.is(
    known.reduce((sum, { seconds }) => sum + seconds, 0),
    2.5 * angles.length,
  );
});

test('of two speakers no third one is found, and a part between two voices is of none', async (t) => {
  if (params === undefined) return t.fail('expected a voice model');
  const parts = [0, 2, 4].map((angle) => ({ vector: at(angle), seconds: 6, end: 0 }));
  const { voices, known } = await addParts([], parts, '2', params);
  t.is(new Set(voices).size, 2);
  const all = await addParts([], parts, 'auto', params);
  t.deepEqual(all.voices, [0, 1, 2]);
  const between = await addParts(known.slice(0, 2), [{ vector: at(1), seconds: 0.1, end: 0 }], '2', params);
  t.deepEqual(between.voices, [null]);
});
