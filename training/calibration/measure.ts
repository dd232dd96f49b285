/**
 * Measures recordings with the shipped pipeline up to the heads.
 * node --import tsx training/calibration/measure.ts MODELS LIST ROOT: LIST has one path below ROOT per line. Prints one JSON
 * line per recording: path, seconds of speech, measures by name, cepstrum. Omits those under 0.5 s of speech.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr, stdout } from 'node:process';
import { describeSpeaker } from '../../src/engine/baselines.ts';
import { defaultChunking } from '../../src/engine/chunks.ts';
import { measureSpeaker } from '../../src/engine/signals/speaker.ts';
import { startExecution } from '../../src/engine/execution.ts';
import { loadModels } from '../../src/node/models.ts';

const limits = { seconds: 900, channels: 8, minSampleRate: 4000, maxSampleRate: 384_000, deadlineSeconds: 0 };

async function main([folder, list, root]: string[]): Promise<void> {
  if (folder === undefined || list === undefined || root === undefined)
    throw new Error('Expected MODELS LIST ROOT for `arguments`');
  const models = await loadModels(folder);
  const paths = readFileSync(list, 'utf8').split('\n').filter(Boolean);
  for (const [index, path] of paths.entries()) {
    const audio = readFileSync(join(root, path));
    const request = { channel: null, track: null, cancel: null, signals: [], measured: true };
    const context = { models, limits, chunking: defaultChunking };
    const recording = await describeSpeaker('audio', audio, request, context, startExecution(null));
    if (index % 500 === 0) stderr.write(`${index} of ${paths.length} recordings\n`);
    const { speechSeconds } = recording;
    if (speechSeconds < models.vad.manifest.params.minTotalSpeechSeconds) continue;
    const { measures, cepstrum } = measureSpeaker(recording, models.cognitive.manifest.params.measures);
    const values = Object.fromEntries(Object.entries(measures).map(([name, { value }]) => [name, value]));
    stdout.write(`${JSON.stringify({ path, speech_s: speechSeconds, measures: values, cepstrum })}\n`);
  }
}

await main(argv.slice(2));
