/**
 * Cuts recordings into utterances and encodes them, by the shipped code.
 * node --import tsx training/features/encode.ts JOB: a JSON file, see `Job`. OUT.json receives the columns of the utterances,
 * OUT.speech.f32 the speech probability of the frames of their windows, OUT.embeddings.f32 and OUT.weights.f32 those of the
 * trunk.
 */
import { closeSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr } from 'node:process';
import { encode, framesOf, cutRuns, cutUtterances, type UtteranceParams } from '../../src/engine/utterances.ts';
import { unbounded } from '../../src/engine/speech.ts';
import { analyzeSpeech, detectFrames, initialDetectorState } from '../../src/engine/speech.ts';
import { startStageTimer } from '../../src/engine/timer.ts';
import { decode } from '../../src/node/addon.ts';
import { loadEncoder } from '../../src/node/models.ts';

type Job = {
  readonly root: string;
  /** Below `root`. */
  readonly paths: readonly string[];
  /** Folder of a VAD model. */
  readonly vad: string;
  /** Folder of a trunk; null: windows alone. */
  readonly trunk: string | null;
  readonly params: UtteranceParams;
  readonly out: string;
};

const limits = { seconds: 3600, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };

async function main(file: string | undefined): Promise<void> {
  if (file === undefined) throw new Error('Expected a file for `job`, got nothing');
  const { root, paths, vad, trunk, params, out } = JSON.parse(readFileSync(file, 'utf8')) as Job;
  const models = await loadEncoder(vad, trunk);
  const files = ['speech', 'embeddings', 'weights'].map((name) => openSync(`${out}.${name}.f32`, 'w'));
  const [speechFile, embeddingsFile, weightsFile] = files as [number, number, number];
  const columns = { recording: [], start: [], frames: [], speechFrames: [], embeddings: [] } as Record<string, number[]>;
  const add = (name: string, value: number) => columns[name]?.push(value);
  for (const [index, path] of paths.entries()) {
    const bytes = readFileSync(join(root, path));
    const { sampleRate } = models.features;
    const { samples } = decode(bytes, { sampleRate, channel: null, track: null, limits, cancel: null });
    const { frames } = await detectFrames(initialDetectorState(models), samples, true, models, startStageTimer(null));
    const speech = analyzeSpeech({ samples, sampleRate }, frames, models);
    const utterances = cutUtterances(speech, params, [unbounded]);
    const found = utterances.map((utterance) => ({ runs: [utterance], speechFrames: utterance.speechFrames }));
    const all = cutRuns(speech, params);
    for (const { runs, speechFrames } of found.length > 0 || all === null ? found : [all]) {
      const rows = framesOf(speech, runs, models);
      const encoded = models.trunk && (await encode(rows, models.trunk, startStageTimer(null)));
      add('recording', index);
      add('start', rows.start);
      add('frames', rows.speechProbability.length);
      add('speechFrames', speechFrames);
      add('embeddings', encoded?.weights.data.length ?? 0);
      write(speechFile, rows.speechProbability);
      if (encoded === null) continue;
      write(embeddingsFile, encoded.embeddings.data);
      write(weightsFile, encoded.weights.data);
    }
    if (index % 1000 === 0) stderr.write(`${index} of ${paths.length} recordings\n`);
  }
  for (const descriptor of files) closeSync(descriptor);
  writeFileSync(`${out}.json`, JSON.stringify(columns));
}

function write(descriptor: number, { buffer, byteOffset, byteLength }: Float32Array): void {
  writeSync(descriptor, new Uint8Array(buffer, byteOffset, byteLength));
}

await main(argv[2]);
