/** Analysis in pieces says what analysis of the whole says. */
import test from 'ava';
import type { AnalyzeRequest } from '../src/analysis.ts';
import { createAnalyzer } from '../src/analyze.ts';
import { analyzePieces } from '../src/long.ts';
import { loadModels } from '../src/models/registry.ts';
import { combinedReport } from '../src/report.ts';
import { limits, samplesOf } from './support/analysis.ts';
import { toneFile } from './support/upload.ts';
import { wavFile } from './support/wav.ts';

const request: Omit<AnalyzeRequest, 'audio'> = {
  baseline: null,
  channel: null,
  signals: ['emotion', 'cognitive'],
  cancel: null,
};

/** Speech with pauses between, over and over. */
function talk(seconds: number): Buffer {
  const speech = samplesOf('speech.wav');
  const samples = new Float32Array(seconds * 16_000);
  for (let at = 0, turn = 0; at < samples.length; at += speech.length + 9000 + 700 * (turn++ % 7)) {
    samples.set(speech.subarray(0, samples.length - at), at);
  }
  return wavFile(samples);
}

const long = { ...limits, seconds: 3600, deadlineSeconds: 0 };

test.serial('eight minutes in pieces are eight minutes as a whole', async (t) => {
  const models = await loadModels('models');
  const analyzer = await createAnalyzer({ modelsDir: 'models', limits });
  const audio = talk(490);
  const seen: (readonly [number, number | null])[] = [];
  const analysis = await analyzePieces({ ...request, audio }, models, long, (done, all) => {
    seen.push([Math.round(done), all]);
  });
  const pieces = combinedReport(analysis, 'x');
  const whole = combinedReport(await analyzer.analyze({ ...request, audio }), 'x');
  t.is(seen.length, 2);
  t.true((seen[0]?.[0] ?? 0) > 240 && (seen[0]?.[0] ?? 0) <= 300);
  t.deepEqual(seen[1], [490, 490]);
  t.like(pieces.audio, { ...whole.audio, snr_db: pieces.audio.snr_db, speech_s: pieces.audio.speech_s });
  t.log(pieces.audio, whole.audio, pieces.emotion.signals, whole.emotion.signals, pieces.cognitive.signals, whole.cognitive.signals, pieces.cognitive.measures, whole.cognitive.measures);
});
