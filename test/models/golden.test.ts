import { readFile } from 'node:fs/promises';
import test from 'ava';
import { digest, goldenSchema, replay, syntheticSignal } from '../../src/models/golden.ts';
import { loadModels } from '../../src/models/registry.ts';

for (const name of ['activity', 'trunk', 'emotion', 'cognitive']) {
  test(`${name} replays its golden`, async (t) => {
    const golden = goldenSchema.parse(JSON.parse(await readFile(`models/${name}/golden.json`, 'utf8')));
    const samples = syntheticSignal(golden.signal.seed, golden.signal.seconds);
    t.is(digest(samples), golden.digest);
    const outputs = (await replay(await loadModels('models'), samples))[name] ?? {};
    t.deepEqual(Object.keys(outputs).sort(), Object.keys(golden.outputs).sort());
    for (const [output, { shape, values }] of Object.entries(golden.outputs)) {
      t.deepEqual(outputs[output]?.shape, shape);
      values.forEach((value, index) => {
        const got = outputs[output]?.values[index] ?? Number.NaN;
        t.true(Math.abs(got - value) <= golden.tolerance, `${output}[${index}]: ${got} is not ${value}`);
      });
    }
  });
}

test('labels are one a probability, in the documented order', async (t) => {
  const { emotion } = await loadModels('models');
  t.deepEqual(emotion.manifest.labels, [
    'neutral',
    'calm',
    'happy',
    'sad',
    'angry',
    'fearful',
    'disgusted',
    'surprised',
  ]);
  const golden = goldenSchema.parse(JSON.parse(await readFile('models/emotion/golden.json', 'utf8')));
  t.deepEqual(golden.outputs.probabilities?.shape, [1, emotion.manifest.labels.length]);
});
