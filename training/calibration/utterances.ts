/**
 * Utterances of composed recordings, by the shipped pipeline.
 * node --import tsx training/calibration/utterances.ts LIST ROOT MODELS: a line of LIST is a JSON array of paths below
 * ROOT, played one after another. Prints one JSON line per line: the clip and the mean embedding of each utterance, and
 * the variance between two groups of their voices, null with too few utterances.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { argv, stderr, stdout } from 'node:process';
import { encode } from '../../src/analysis/encode.ts';
import { runHeads } from '../../src/analysis/heads.ts';
import { joinArrays } from '../../src/analysis/join-arrays.ts';
import { detectSpeech } from '../../src/analysis/speech.ts';
import { startStageTimer } from '../../src/analysis/stage-timer.ts';
import { collectSpans, cutUtterances } from '../../src/analysis/utterances.ts';
import { betweenVariance } from '../../src/analysis/voices.ts';
import { decode } from '../../src/audio/addon.ts';
import { loadModels, type Models } from '../../src/models/loader.ts';

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
  const options = { sampleRate, channel: null, limits, cancel: null };
  const pause = new Float32Array(pauseSeconds * sampleRate);
  const clips = files.map((file) => joinArrays([decode(file, options).samples, pause]));
  const timer = startStageTimer(null);
  const speech = await detectSpeech({ samples: joinArrays(clips), sampleRate }, models, timer);
  const { framesPerToken, severalSpeakers } = models.trunk.manifest.params;
  if (severalSpeakers === undefined) throw new Error('Expected params `severalSpeakers` of the trunk, got none');
  const minVoiceFrames = severalSpeakers.minUtteranceSeconds * speech.framesPerSecond;
  const { timeline, voices } = await runHeads(
    encode(speech, models, timer),
    collectSpans(cutUtterances(speech), framesPerToken),
    { signals: [], windowsOnly: false, minVoiceFrames, embeddings: true },
    models,
    timer,
  );
  const utterances = timeline.filter(({ window }) => window.speechFrames >= minVoiceFrames);
  return {
    clips: utterances.map(({ window }) => clipAt(clips, ((window.start + window.end) / 2) * hopLength)),
    means: utterances.map(({ embedding }) => [...(embedding ?? [])].map(rounded)),
    variance: betweenVariance(voices, severalSpeakers.minUtterances),
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
