/**
 * How near the voices of two groups of windows are, by the shipped pipeline.
 * node --import tsx training/calibration/similarities.ts LIST MODELS: a line of LIST is the path of a recording. Prints one
 * JSON value per line: a cosine, null where the recording cannot be of two voices.
 */
import { readFileSync } from 'node:fs';
import { argv, stderr, stdout } from 'node:process';
import { stepOf, similarityOfTwo } from '../../src/engine/several-speakers.ts';
import { scoreUtterances } from '../../src/engine/embeddings.ts';
import { startExecution } from '../../src/engine/execution.ts';
import type { Models } from '../../src/engine/loader.ts';
import { createQualityMeter, noNoise } from '../../src/engine/quality.ts';
import { unbounded } from '../../src/engine/segments.ts';
import { analyzeSpeech, detectFrames, initialDetectorState } from '../../src/engine/speech.ts';
import { cutUtterances } from '../../src/engine/utterances.ts';
import { decode } from '../../src/node/addon.ts';
import { loadModels } from '../../src/node/models.ts';

const limits = { seconds: 900, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };

async function main([list, modelsDir]: string[]): Promise<void> {
  if (list === undefined || modelsDir === undefined) throw new Error('Expected LIST MODELS for `arguments`');
  const models = await loadModels(modelsDir);
  const paths = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  for (const [index, path] of paths.entries()) {
    stdout.write(`${JSON.stringify(await similarity(readFileSync(path), models))}\n`);
    if (index % 100 === 0) stderr.write(`${index} of ${paths.length} recordings\n`);
  }
}

async function similarity(file: Uint8Array, models: Models): Promise<number | null> {
  const { sampleRate } = models.features;
  const { samples } = decode(file, { sampleRate, channel: null, track: null, limits, cancel: null });
  const execution = startExecution(null);
  const { frames } = await detectFrames(initialDetectorState(models), samples, true, models, execution);
  const speech = analyzeSpeech({ samples, sampleRate }, frames, models);
  const { params } = models.trunk.manifest;
  const { severalSpeakers } = params;
  if (severalSpeakers === undefined) throw new Error('Expected params `severalSpeakers` of the trunk, got none');
  const utterances = cutUtterances(speech, params, [unbounded]);
  const windowStep = stepOf(utterances, true, severalSpeakers, speech.framesPerSecond);
  const meter = createQualityMeter(speech, noNoise, models.features);
  const request = { signals: [], embeddings: false, voices: 'compare' as const };
  const context = { speech, meter, totals: {}, windowStep };
  const { windowVoices } = await scoreUtterances(utterances, context, request, models, execution);
  return similarityOfTwo(windowVoices, severalSpeakers);
}

await main(argv.slice(2));
