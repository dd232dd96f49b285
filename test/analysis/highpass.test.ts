/** Models whose feature spec has a high-pass. */
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { startExecution } from '../../src/engine/execution.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { detectFrames, initialDetectorState } from '../../src/engine/speech.ts';
import { extract } from '../../src/node/addon.ts';
import { createAnalyzer, loadModels } from '../../src/node/models.ts';
import { limits, reporter, samplesOf } from '../support/analysis.ts';

const speech = samplesOf('mono-16k.wav');

test('the features of a stream are those of the extractor, which training uses', async (t) => {
  const models = await loadModels('models/standard');
  const expected = extract(speech, models.trunk.manifest.features);
  const { highpassHz: _, ...unfiltered } = models.features;
  t.notDeepEqual(expected.data, extract(speech, unfiltered).data);
  for (const length of [1000, 40_000, speech.length]) {
    let state = initialDetectorState(models);
    const rows: number[] = [];
    for (let at = 0; at < speech.length; at += length) {
      const isLast = at + length >= speech.length;
      const block = speech.slice(at, at + length);
      const detected = await detectFrames(state, block, isLast, models, startExecution(null));
      state = detected.state;
      rows.push(...detected.features.data);
    }
    t.deepEqual(Float32Array.from(rows), expected.data);
  }
});

test('without a high-pass a stream stays as it is', async (t) => {
  const { platform, filter } = await loadModels('models/standard');
  const { highpassHz, ...plain } = filter;
  t.is(highpassHz, 64);
  const filtered = speech.slice();
  platform.filterStream(filtered, new Float64Array(0), plain);
  t.deepEqual(filtered, speech);
});

test('an offset changes no score', async (t) => {
  const report = await reporter();
  const plain = await report(
    wavFile(
      speech.map((sample) => sample / 2),
      16_000,
    ),
  );
  for (const offset of [0.005, 0.07]) {
    const shifted = await report(
      wavFile(
        speech.map((sample) => sample / 2 + offset),
        16_000,
      ),
    );
    t.true(Math.abs((shifted.audio.snr_db as number) - (plain.audio.snr_db as number)) < 1);
    t.true(Math.abs(shifted.audio.speech_s - plain.audio.speech_s) < 0.2);
    const { signals } = shifted.cognitive;
    const apart = Math.abs(Number(signals?.cognitive_load) - Number(plain.cognitive.signals?.cognitive_load));
    t.true(apart < 0.03, `load with an offset of ${offset}: ${apart}`);
  }
});

test('rumble of 15 to 40 Hz and an offset change no score', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const scoresOf = async (samples: Float32Array) => {
    const request = { ...defaultOptions, baselines: [], signals: ['emotion'] as const, cancel: null };
    const [analysis] = await analyzer.analyze({ ...request, audio: wavFile(samples, 16_000) });
    return analysis.results.emotion;
  };
  const plain = await scoresOf(speech.map((sample) => sample / 2));
  for (const hertz of [15, 25, 40]) {
    const rumble = speech.map(
      (sample, index) => sample / 2 + 0.07 + 0.02 * Math.sin((2 * Math.PI * hertz * index) / 16_000),
    );
    const scores = await scoresOf(rumble);
    for (const name of ['valence', 'arousal'] as const) {
      const apart = Math.abs(Number(scores?.[name]) - Number(plain?.[name]));
      t.true(apart < 0.03, `${name} at ${hertz} Hz: ${apart}`);
    }
  }
});
