import { readFileSync } from 'node:fs';
import test from 'ava';
import { weightedMean } from '../../src/engine/arrays.ts';
import { scoreUtterances } from '../../src/engine/embeddings.ts';
import { startExecution } from '../../src/engine/execution.ts';
import { noNoise } from '../../src/engine/quality.ts';
import type { DetectedSpeech } from '../../src/engine/speech.ts';
import { gridFrames } from '../../src/engine/utterances.ts';
import { loadModels } from '../../src/node/models.ts';
import { analyze } from '../../src/tools/index.ts';

const sample = readFileSync('examples/sample.wav');

test('the embedding of an utterance is the mean of its tokens, weighted by speech', async (t) => {
  const models = await loadModels('models/standard');
  const tokens = { data: Float32Array.of(1, 10, 3, 20, 100, 100), shape: [1, 3, 2] };
  const session = { ...models.trunk.session, run: async () => ({ tokens }) };
  // The window begins a whole number of embeddings before it: with the first sample.
  const click = new Float32Array(12 * models.features.hopLength);
  click[gridFrames * models.features.hopLength] = 1;
  const frames = {
    audio: { samples: click, sampleRate: models.features.sampleRate },
    speechProbability: Float32Array.of(0, 0, 0.5, 0.5, 1, 1, 1, 0, 0, 0, 0, 0),
  } as unknown as DetectedSpeech;
  const quality = { snrDb: 30, bandwidthHz: 8000, clippedRatio: 0 };
  const window = { start: 0, end: 12 };
  const utterance = { ...window, window, speechFrames: 5, cause: 'pause' } as const;
  const { scored } = await scoreUtterances(
    [utterance],
    {
      speech: frames,
      meter: { measure: () => quality, noise: () => noNoise },
      totals: {},
      windowStep: null,
    },
    { signals: [], embeddings: true, voices: null },
    { ...models, trunk: { ...models.trunk, session } },
    startExecution(null),
  );
  t.deepEqual([...(scored[0]?.embedding ?? [])], [2.5, 17.5]);
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
