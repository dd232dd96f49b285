import { readFileSync } from 'node:fs';
import test from 'ava';
import { weightedMean } from '../../src/analysis/arrays.ts';
import { analyze } from '../../src/index.ts';

const sample = readFileSync('examples/sample.wav');

test('an embedding is the mean, weighted by speech', (t) => {
  const rows = [
    [1, 10],
    [3, 20],
    [100, 100],
  ];
  t.deepEqual([...weightedMean(rows, [0.25, 0.75, 0])], [2.5, 17.5]);
});

test('embeddings count equally where nothing is speech', (t) => {
  t.deepEqual([...weightedMean([Float32Array.of(1), Float32Array.of(3)], [0, 0])], [2]);
});

test('one embedding per utterance, and none unless requested', async (t) => {
  const { embeddings, emotion } = await analyze(sample, { embeddings: true });
  t.is(embeddings?.timeline.length, emotion?.timeline.length);
  t.true(embeddings?.recording.every(Number.isFinite));
  t.notDeepEqual(embeddings?.timeline[0]?.embedding, embeddings?.timeline[1]?.embedding);
  t.false('embeddings' in (await analyze(sample)));
});
