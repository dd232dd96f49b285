/**
 * Utterances of composed recordings, by the shipped pipeline.
 * node --import tsx training/calibration/utterances.ts LIST ROOT MODELS: a line of LIST is a JSON array of paths below
 * ROOT, played one after another. Prints one JSON line per line: the clip and the mean embedding of each utterance, and
 * the variance between two groups of their voices, null with too few utterances.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr, stdout } from 'node:process';
import { joinArrays } from '../../src/engine/arrays.ts';
import { scoreUtterances } from '../../src/engine/embeddings.ts';
import { createQualityMeter, noNoise } from '../../src/engine/quality.ts';
import { unbounded } from '../../src/engine/segments.ts';
import { analyzeSpeech, detectFrames, initialDetectorState } from '../../src/engine/speech.ts';
import { startExecution } from '../../src/engine/execution.ts';
import { cutUtterances } from '../../src/engine/utterances.ts';
import { betweenVariance } from '../../src/engine/several-speakers.ts';
import { decode } from '../../src/node/addon.ts';
import type { Models } from '../../src/engine/loader.ts';
import { loadModels } from '../../src/node/models.ts';

const limits = { seconds: 900, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };
const pauseSeconds = 0.5;
const decimals = 4;

async function main([list, root, modelsDir]: string[]): Promise<void> {
  if (list === undefined || root === undefined || modelsDir === undefined)
    throw new Error('Expected LIST ROOT MODELS for `arguments`');
  const models = await loadModels(modelsDir);
  const lines = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  for (const [index, line] of lines.entries()) {
    const files = (JSON.parse(line) as string[]).map((path) => readFileSync(join(root, path)));
    stdout.write(`${JSON.stringify(await describe(files, models))}\n`);
    if (index % 100 === 0) stderr.write(`${index} of ${lines.length} recordings\n`);
  }
}

async function describe(files: readonly Uint8Array[], models: Models) {
  const { sampleRate, hopLength } = models.features;
  const options = { sampleRate, channel: null, track: null, limits, cancel: null };
  const pause = new Float32Array(pauseSeconds * sampleRate);
  const clips = files.map((file) => joinArrays([decode(file, options).samples, pause]));
  const execution = startExecution(null);
  const samples = joinArrays(clips);
  const { frames } = await detectFrames(initialDetectorState(models), samples, true, models, execution);
  const speech = analyzeSpeech({ samples, sampleRate }, frames, models);
  const { params } = models.trunk.manifest;
  if (params.severalSpeakers === undefined) throw new Error('Expected params `severalSpeakers` of the trunk, got none');
  const meter = createQualityMeter(speech, noNoise, models.features);
  const request = { signals: [], embeddings: true, voices: 'compare' as const };
  const utterances = cutUtterances(speech, params, [unbounded]);
  const { scored } = await scoreUtterances(utterances, { speech, meter, totals: {}, parts: [] }, request, models, execution);
  const long = scored.filter(({ voice }) => voice !== null);
  return {
    clips: long.map(({ start, end }) => clipAt(clips, ((start + end) / 2) * hopLength)),
    means: long.map(({ embedding }) => [...(embedding ?? [])].map(rounded)),
    variance: betweenVariance(
      long.flatMap(({ voice }) => (voice === null ? [] : [voice])),
      params.severalSpeakers.minUtterances,
    ),
  };
}

/** Index of the clip that contains a sample of the recording. */
function clipAt(clips: readonly Float32Array[], sample: number): number {
  let end = 0;
  return clips.findIndex((clip) => {
    end += clip.length;
    return sample < end;
  });
}

function rounded(value: number): number {
  return Number(value.toFixed(decimals));
}

await main(argv.slice(2));
