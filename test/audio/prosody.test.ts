/** Measures of prosody are the same for every codec and container. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import type { Measures } from '../../src/engine/signals/measures.ts';
import { measureProsody } from '../../src/engine/signals/measures.ts';
import { decode, trackProsody } from '../../src/node/addon.ts';
import { builtAddon } from '../../src/node/paths.ts';
import { createRandom } from '../../src/tools/evaluate/statistics.ts';
import { limits, samplesOf } from '../support/analysis.ts';
import { outputOf } from '../support/cli.ts';

async function measuresOf(name: string): Promise<Measures> {
  const options = { sampleRate: 16_000, channel: null, limits, cancel: null };
  const { samples, seconds } = decode(fixture(name), options);
  const whole = { start: 0, end: Math.floor(seconds * 100) };
  return measureProsody(await trackProsody(samples, 16_000), [whole], 100, { minVoicedSeconds: 1 });
}

const tolerances = { pitch_level: 0.05, pitch_range: 0.05, level_range: 0.2, spectral_tilt: 0.2 };
const expected = await measuresOf('mono-16k.wav');

for (const name of ['cbr.mp3', 'aac.m4a', 'opus.webm', 'vorbis.ogg', 'mono-8k.wav', 'mulaw.wav']) {
  test(`${name} has the prosody of the WAV`, async (t) => {
    const measures = await measuresOf(name);
    for (const [measure, tolerance] of Object.entries(tolerances)) {
      const apart = Math.abs((measures[measure]?.value ?? 99) - (expected[measure]?.value ?? -99));
      t.true(apart < tolerance, `${measure}: ${apart}`);
    }
  });
}

for (const amplitude of [1e-19, 1e-20, 1e-21, 1e-22, 1e-23]) {
  test(`samples of ${amplitude} between two voiced parts silence neither of them`, async (t) => {
    const voiced = samplesOf('mono-16k.wav').subarray(0, 48_000);
    const random = createRandom(1);
    const quiet = new Float32Array(16_000).map(() => amplitude * (2 * random() - 1));
    const { pitchHz } = await trackProsody(joinArrays([voiced, quiet, voiced]), 16_000);
    const count = (from: number, to: number) =>
      pitchHz.subarray(from, to).filter((hertz) => hertz > 0).length;
    const [before, after] = [count(0, 290), count(400, 690)];
    t.true(before > 50 && Math.abs(after - before) <= 5, `${before} voiced frames before, ${after} after`);
  });
}

const terminated = `
  const { Worker } = require('node:worker_threads');
  const source = \`
    const { parentPort, workerData } = require('node:worker_threads');
    require(workerData).trackProsody(new Float32Array(16_000 * 60).fill(0.1), 16_000);
    parentPort.postMessage('tracking');
  \`;
  const thread = new Worker(source, { eval: true, workerData: ${JSON.stringify(builtAddon)} });
  thread.once('message', () => thread.terminate());
`;

test('a thread that is terminated while it tracks does not end the process', async (t) => {
  const child = spawn(process.execPath, ['-e', terminated]);
  const { stderr } = outputOf(child);
  t.deepEqual(await once(child, 'close'), [0, null], stderr());
});
