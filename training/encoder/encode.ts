/**
 * Cuts recordings into utterances and encodes them, by the shipped code.
 * node --import tsx training/encoder/encode.ts JOB: a JSON file, see `Job`. OUT.json receives the columns of the utterances; OUT.f32
 * the mean and the deviation of the embeddings of each, weighted by speech, and the sum of the weights.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv } from 'node:process';
import { unbounded } from '../../src/engine/segments.ts';
import { analyzeSpeech, detectFrames, initialDetectorState } from '../../src/engine/speech.ts';
import { startExecution } from '../../src/engine/execution.ts';
import {
  cutRuns,
  cutUtterances,
  type Encoded,
  encode,
  framesOf,
  type UtteranceParams,
} from '../../src/engine/utterances.ts';
import { decode } from '../../src/node/addon.ts';
import { loadEncoder } from '../../src/node/models.ts';

type Job = {
  readonly root: string;
  /** Below `root`. */
  readonly paths: readonly string[];
  /** Folders of a VAD model and of a trunk. */
  readonly vad: string;
  readonly trunk: string;
  readonly params: UtteranceParams;
  readonly varianceFloor: number;
  readonly out: string;
};

const limits = { seconds: 3600, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };

async function main(file: string | undefined): Promise<void> {
  if (file === undefined) throw new Error('Expected a file for `job`, got nothing');
  const { root, paths, vad, trunk, params, varianceFloor, out } = JSON.parse(readFileSync(file, 'utf8')) as Job;
  const models = await loadEncoder(vad, trunk);
  if (models.trunk === null) throw new Error(`Expected a trunk in ${trunk}, got none`);
  const { sampleRate } = models.features;
  const columns: { recording: number[]; speech_frames: number[] } = { recording: [], speech_frames: [] };
  const rows: Float32Array[] = [];
  for (const [index, path] of paths.entries()) {
    const bytes = readFileSync(join(root, path));
    const { samples } = decode(bytes, { sampleRate, channel: null, track: null, limits, cancel: null });
    const state = initialDetectorState(models);
    const { frames } = await detectFrames(state, samples, true, models, startExecution(null));
    const speech = analyzeSpeech({ samples, sampleRate }, frames, models);
    const utterances = cutUtterances(speech, params, [unbounded]);
    const found = utterances.map((utterance) => ({ runs: [utterance], speechFrames: utterance.speechFrames }));
    const all = cutRuns(speech, params);
    for (const { runs, speechFrames } of found.length > 0 || all === null ? found : [all]) {
      const encoded = await encode(framesOf(speech, runs, models), models.trunk);
      columns.recording.push(index);
      columns.speech_frames.push(speechFrames);
      rows.push(momentsOf(encoded, varianceFloor));
    }
  }
  writeFileSync(`${out}.f32`, Buffer.concat(rows.map(({ buffer }) => new Uint8Array(buffer))));
  writeFileSync(`${out}.json`, JSON.stringify(columns));
}

/** Without speech all embeddings count alike. */
function momentsOf({ embeddings, weights }: Encoded, varianceFloor: number): Float32Array {
  const width = embeddings.shape[2] as number;
  const spoken = weights.data.reduce((sum, weight) => sum + weight, 0);
  const total = spoken > 0 ? spoken : weights.data.length;
  const mean = new Float64Array(width);
  const square = new Float64Array(width);
  weights.data.forEach((weight, place) => {
    const share = (spoken > 0 ? weight : 1) / total;
    for (let index = 0; index < width; index++) {
      const value = embeddings.data[place * width + index] as number;
      mean[index] = (mean[index] as number) + share * value;
      square[index] = (square[index] as number) + share * value * value;
    }
  });
  const deviation = square.map((value, index) =>
    Math.sqrt(Math.max(0, value - (mean[index] as number) ** 2) + varianceFloor),
  );
  return Float32Array.of(...mean, ...deviation, total);
}

await main(argv[2]);
