/** Relative affect: how far valence and arousal are from the speaker's own at rest, wherever it is asked for. */
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';
import { call, outburst, talk } from '../support/recordings.ts';

const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });

const say = (name: string) => wavFile(speech(name, 5));
/** One utterance. */
const sentence = wavFile(speech('high-2').subarray(0, 24_000));

type Emotion = ReturnType<typeof combinedReport>['emotion'];

async function emotionsOf(audio: Uint8Array, options = {}): Promise<Emotion[]> {
  const request = { ...defaultOptions, audio, baselines: [], cancel: null, ...options };
  const analyses = await analyzer.analyze({ ...request, signals: ['emotion', 'cognitive'] });
  return analyses.map((analysis) => combinedReport(analysis, 'test').emotion);
}

async function emotionOf(audio: Uint8Array, ...baselines: readonly Uint8Array[]) {
  const [emotion] = await emotionsOf(audio, { baselines });
  return emotion as Emotion;
}

test('emotion is relative to a baseline, and its scores stay as they are', async (t) => {
  const [alone, compared] = [await emotionOf(say('high-1')), await emotionOf(say('high-1'), sentence)];
  t.is(alone.relative, null);
  t.deepEqual(compared.signals, alone.signals);
  t.deepEqual(compared.moments, alone.moments);
  const atRest = (await emotionOf(sentence)).timeline;
  t.is(atRest.length, 1);
  for (const name of ['valence', 'arousal'] as const) {
    const change = compared.relative?.[name];
    const scores = [compared.signals[name], atRest[0]?.[name]] as number[];
    t.true(Math.abs(Number(change?.change) - (Number(scores[0]) - Number(scores[1]))) < 2e-4, name);
    const [lower = 0, upper = 0] = change?.interval ?? [];
    t.true(lower < Number(change?.change) && Number(change?.change) < upper);
    t.is(Math.sign(Number(change?.spreads)), Math.sign(Number(change?.change)));
  }
  for (const { relative } of compared.timeline) t.is(relative?.to, 'baseline');
});

test('a recording of one utterance as its own baseline has changed by nothing', async (t) => {
  const { relative, timeline } = await emotionOf(sentence, sentence);
  t.like(relative, { valence: { change: 0, spreads: 0 }, arousal: { change: 0, spreads: 0 } });
  t.like(timeline[0]?.relative, { valence: { change: 0 }, arousal: { change: 0 } });
});

test('a baseline with little speech, in no utterance, counts', async (t) => {
  const samples = new Float32Array(16_000 * 4);
  for (const at of [0.3, 1.6, 2.9]) samples.set(speech('fox').subarray(16_000, 22_400), at * 16_000);
  const short = wavFile(samples);
  t.is((await emotionOf(short)).timeline.length, 1);
  t.is((await emotionOf(say('high-1'), short)).relative?.to, 'baseline');
});

test('an outburst is more aroused than the utterances before it and than a plain recording', async (t) => {
  const { samples, start } = outburst(true);
  const plain = wavFile(outburst(false).samples);
  const isLoud = ({ start_s }: { readonly start_s: number }) => start_s >= start && start_s <= start + 2;
  for (const baselines of [[], [plain]]) {
    const { timeline } = await emotionOf(wavFile(samples), ...baselines);
    const changes = timeline.filter(({ relative }) => relative !== null);
    const most = changes.toSorted(
      (one, other) => Number(other.relative?.arousal.change) - Number(one.relative?.arousal.change),
    )[0];
    t.true(most !== undefined && isLoud(most));
    t.true(Number(most?.relative?.arousal.interval[0]) > 0);
    t.is(most?.relative?.to, baselines.length === 0 ? 'earlier' : 'baseline');
  }
});

test('each speaker of a call is relative to their own utterances', async (t) => {
  const [customer] = await emotionsOf(call(), { channels: 'split' });
  const alone = customer?.timeline.map(({ relative }) => relative) ?? [];
  t.is(alone.filter((relative) => relative !== null).length, alone.length - 4);
  const { samples } = talk(['low', 'high'], 0.5);
  const voices = await emotionsOf(wavFile(samples), { speakers: '2' });
  t.is(voices.length, 2);
  for (const { timeline } of voices) {
    const [last] = timeline.slice(-1);
    const before = timeline.slice(0, -1).map(({ arousal }) => Number(arousal));
    const [, low, high] = before.toSorted((one, other) => one - other);
    const change = Number(last?.arousal) - (Number(low) + Number(high)) / 2;
    t.is(timeline.length, 5);
    t.true(Math.abs(Number(last?.relative?.arousal.change) - change) < 2e-4);
  }
});
