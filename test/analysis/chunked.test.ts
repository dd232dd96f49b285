/** Chunked analysis gives the scores of a single pass. */
import { setTimeout as sleep } from 'node:timers/promises';
import test, { type ExecutionContext } from 'ava';
import { toneFile, wavFile } from '../../benchmarks/upload-body.ts';
import type { Analysis } from '../../src/engine/aggregate.ts';
import { type AnalyzeRequest, analyzerOf } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { createAnalyzer, loadModels } from '../../src/node/models.ts';
import { limits, samplesOf, speech } from '../support/analysis.ts';
import { interview } from '../support/recordings.ts';

const request: Omit<AnalyzeRequest, 'audio'> = {
  baselines: [],
  ...defaultOptions,
  signals: ['emotion', 'cognitive'],
  cancel: null,
};

/** Repeated speech with pauses. */
function talk(seconds: number): Buffer {
  const speech = samplesOf('speech.wav');
  const samples = new Float32Array(seconds * 16_000);
  for (let at = 0, turn = 0; at < samples.length; at += speech.length + 9000 + 700 * (turn++ % 7)) {
    samples.set(speech.subarray(0, samples.length - at), at);
  }
  return wavFile(samples);
}

/** Where a WAV file declares the bytes of its samples: all ones if they are unknown. */
const dataSizeAt = 40;

const long = { ...limits, seconds: 3600, deadlineSeconds: 0 };

test.serial('eight minutes in chunks have the scores of a single pass', async (t) => {
  const models = await loadModels('models/standard');
  const chunked = analyzerOf(models, long);
  const analyzer = analyzerOf(models, limits, { chunkSeconds: 600, maxCutSeconds: 60 });
  const audio = talk(490);
  const seen: (readonly [number, number | null])[] = [];
  const [analysis] = await chunked.analyze({ ...request, audio }, (done, all) => {
    seen.push([Math.round(done), all]);
  });
  const pieces = combinedReport(analysis, 'x');
  const whole = combinedReport((await analyzer.analyze({ ...request, audio }))[0], 'x');
  t.is(seen.length, 3);
  t.true((seen[0]?.[0] ?? 0) > 120 && (seen[0]?.[0] ?? 0) <= 180);
  t.deepEqual(seen[2], [490, 490]);
  t.deepEqual({ ...pieces.audio, snr_db: 0, speech_s: 0 }, { ...whole.audio, snr_db: 0, speech_s: 0 });
  near(t, 'speech', pieces.audio.speech_s, whole.audio.speech_s, 0.002 * whole.audio.speech_s);
  near(t, 'snr', pieces.audio.snr_db ?? 0, whole.audio.snr_db ?? 0, 3);
  for (const signal of ['emotion', 'cognitive'] as const) {
    const [one, other] = [pieces[signal], whole[signal]].map(({ signals }) => numbersOf(signals));
    for (const [name, value] of Object.entries(one ?? {})) {
      // Window boundaries differ; the probability of the dominant emotion varies more than the scores.
      const most = signal === 'emotion' && name === 'confidence' ? 0.03 : 0.01;
      near(t, name, value, other?.[name] ?? -1, most);
    }
    t.deepEqual(pieces[signal].warnings, whole[signal].warnings);
  }
  for (const [name, { value }] of Object.entries(whole.cognitive.measures)) {
    near(t, name, pieces.cognitive.measures[name]?.value ?? -1, value, 0.02 * Math.abs(value));
  }
  const { timeline } = pieces.emotion;
  t.true(
    timeline.every(
      ({ start_s, end_s }, index) => end_s > start_s && start_s >= (timeline[index - 1]?.end_s ?? 0),
    ),
  );
  t.true((timeline.at(-1)?.end_s ?? 0) > 480);
});

test.serial('a chunked analysis computes the requested signals alone', async (t) => {
  const chunking = { chunkSeconds: 30, maxCutSeconds: 10 };
  const analyzer = analyzerOf(await loadModels('models/standard'), long, chunking);
  const analyze = async (change: Partial<AnalyzeRequest>) =>
    (await analyzer.analyze({ ...request, audio: talk(70), ...change }))[0];
  const both = (await analyze({})).results;
  t.deepEqual(Object.keys(both), ['emotion', 'cognitive']);
  const emotion = await analyze({ signals: ['emotion'] });
  t.deepEqual(emotion.results, { emotion: both.emotion });
  const cognitive = await analyze({ signals: ['cognitive'] });
  t.deepEqual(cognitive.results, { cognitive: both.cognitive });
});

test.serial(
  'an analysis yields after each block of decoding and each utterance, with the same bits',
  async (t) => {
    const analyzer = analyzerOf(await loadModels('models/standard'), long);
    const blank = ({ stages: _, ...analysis }: Analysis) => analysis;
    const rested = talk(35);
    const asked = { ...request, audio: talk(95), baselines: [rested] };
    const alone = await analyzer.analyze(asked);
    let yields = 0;
    const yieldToOthers = async () => {
      yields++;
      await sleep(1);
      return true;
    };
    const paused = await analyzer.analyze({ ...asked, yieldToOthers });
    t.deepEqual(paused.map(blank), alone.map(blank));
    t.true(paused[0].stages.some(({ name }) => name === 'pause'));
    t.false(alone[0].stages.some(({ name }) => name === 'pause'));
    const utterances = ([analysis]: readonly Analysis[]) =>
      combinedReport(analysis as Analysis, 'x').emotion.timeline.length;
    const atRest = utterances(await analyzer.analyze({ ...request, audio: rested }));
    // Ten blocks of the recording, four of the baseline, and the baseline.
    const others = utterances(alone) + 10 + 4 + 1;
    t.is(yields, others + atRest);
    yields = 0;
    await analyzer.analyze({ ...asked, signals: ['cognitive'], yieldToOthers });
    t.is(yields, others, 'no head of the cognitive signals reads the utterances of the baseline');
  },
);

test.serial('a long tone has status insufficient_speech', async (t) => {
  const analyzer = analyzerOf(await loadModels('models/standard'), long);
  const [analysis] = await analyzer.analyze({ ...request, audio: toneFile(400) });
  const report = combinedReport(analysis, 'x');
  t.is(report.status, 'insufficient_speech');
  t.deepEqual(report.emotion.warnings, ['music_or_noise']);
  t.is(report.audio.duration_s, 400);
});

test.serial(
  'a recording up to 15 minutes is analysed, a longer one is not, and one over the limit is refused',
  async (t) => {
    const audio = talk(20);
    const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits: { ...long, seconds: 15 } });
    const error = await t.throwsAsync(analyzer.analyzeUnlessLong({ ...request, audio }));
    t.is(error?.message, 'Expected at most 15 s of audio, got more');
    const wide = await createAnalyzer({ modelsDir: 'models/standard', limits: long });
    const analyses = await wide.analyzeUnlessLong({ ...request, audio });
    t.deepEqual(
      analyses && combinedReport(analyses[0], 'x'),
      combinedReport((await wide.analyze({ ...request, audio }))[0], 'x'),
    );
    const declared = toneFile(901);
    t.is(await wide.analyzeUnlessLong({ ...request, audio: declared }), null);
    const undeclared = Buffer.from(declared);
    undeclared.fill(0xff, dataSizeAt, dataSizeAt + 4);
    t.is(await wide.analyzeUnlessLong({ ...request, audio: undeclared }), null);
    const short = Buffer.from(toneFile(899));
    short.fill(0xff, dataSizeAt, dataSizeAt + 4);
    const analysis = (await wide.analyzeUnlessLong({ ...request, audio: short }))?.[0];
    t.is(analysis?.audio.seconds, 899);
  },
);

function near(t: ExecutionContext, name: string, value: number, other: number, most: number): void {
  t.true(Math.abs(value - other) <= most, `${name}: ${value} and ${other}`);
}

function numbersOf(signals: object): Record<string, number> {
  return Object.fromEntries(Object.entries(signals).filter(([, value]) => typeof value === 'number'));
}

test.serial('samples are freed once they are analysed, in every mode and in chunks', async (t) => {
  const models = await loadModels('models/standard');
  const decoded: Float32Array[] = [];
  const watch = <Decoder extends { next(): Float32Array }>(decoder: Decoder): Decoder => ({
    ...decoder,
    next: () => {
      const samples = decoder.next();
      decoded.push(samples);
      return samples;
    },
  });
  const { platform } = models;
  const openIncrementalDecoder: typeof platform.openIncrementalDecoder = (...args) =>
    watch(platform.openIncrementalDecoder(...args));
  const openChannelDecoders: typeof platform.openChannelDecoders = (...args) => {
    const [left, right] = platform.openChannelDecoders(...args);
    return [watch(left), watch(right)];
  };
  const watched = { ...models, platform: { ...platform, openIncrementalDecoder, openChannelDecoders } };
  const speakers = ['A', 'B'].map((speaker, index) => ({ speaker, start: 4 * index, end: 4 * index + 4 }));
  const changes: readonly Partial<AnalyzeRequest>[] = [
    {},
    { baselines: [talk(8)] },
    { segments: speakers },
    { speakers: '2' },
    { channels: 'split', audio: interview() },
  ];
  for (const chunkSeconds of [180, 10]) {
    const analyzer = analyzerOf(watched, limits, { chunkSeconds, maxCutSeconds: chunkSeconds / 2 });
    for (const change of changes) {
      decoded.length = 0;
      await analyzer.analyze({ ...request, audio: talk(20), ...change });
      t.true(decoded.length > 0);
      const left = decoded.filter(({ length }) => length > 0).length;
      t.is(left, 0, `${Object.keys(change).join()} in chunks of ${chunkSeconds} s`);
    }
  }
});

test('a chunk does not end inside of long speech where a pause is near', async (t) => {
  const models = await loadModels('models/standard');
  // Without the pauses between the sentences.
  const said = (sentences: number) =>
    joinArrays(
      Array.from({ length: sentences }, (_, index) =>
        speech(`low-${1 + (index % 5)}`).subarray(1600, 41_600),
      ),
    );
  const pause = new Float32Array(9600);
  const audio = wavFile(joinArrays([said(2), pause, said(10), pause, said(2), pause, said(2)]));
  const boundsOf = async (chunkSeconds: number) => {
    const analyzer = analyzerOf(models, limits, { chunkSeconds, maxCutSeconds: 0.77 * chunkSeconds });
    const [analysis] = await analyzer.analyze({ ...request, audio });
    return combinedReport(analysis, 'x').emotion.timeline.flatMap(({ start_s, end_s }) => [start_s, end_s]);
  };
  const whole = await boundsOf(100);
  for (const chunkSeconds of [14, 18, 22]) {
    const bounds = await boundsOf(chunkSeconds);
    t.is(bounds.length, whole.length);
    for (const [index, at] of bounds.entries()) near(t, `${index}`, at, whole[index] ?? -1, 0.1);
  }
});
