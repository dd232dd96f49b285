/** Reports of speakers: those that the caller names, and voices that the service finds. */
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { dot, joinArrays } from '../../src/engine/arrays.ts';
import { type Chunking, defaultChunking } from '../../src/engine/chunks.ts';
import { composeReport, speakersReportSchema } from '../../src/engine/compose-report.ts';
import { defaultOptions, type SpeakerSegment } from '../../src/engine/options.ts';
import { EngineError } from '../../src/engine/platform.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { similarityOfTwo, stepOf } from '../../src/engine/several-speakers.ts';
import { joinSpeakers, type Speaker } from '../../src/engine/signals/speaker.ts';
import { soloSpans } from '../../src/engine/speaker-segments.ts';
import type { ChunkVoice, SpeakerMode } from '../../src/engine/voices.ts';
import type { Warning } from '../../src/engine/warnings.ts';
import { loadModels } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';
import { withoutComparison } from '../support/models.ts';

const segment = (speaker: string, start: number, end: number): SpeakerSegment => ({ start, end, speaker });

const rate = 16_000;
const models = await loadModels('models/standard');
const base = { ...defaultOptions, baselines: [], signals: ['emotion', 'cognitive'], cancel: null } as const;

const turns = (voice: string) => joinArrays([1, 2, 3].map((sentence) => speech(`${voice}-${sentence}`)));

/** Turns of 3 s: low, high, low, high. */
const [low, high] = [turns('low'), turns('high')];
const talk = Float32Array.from({ length: 12 * rate }, (_, at) => {
  const turn = Math.floor(at / (3 * rate));
  const voice = turn % 2 === 0 ? low : high;
  return voice[at - Math.ceil(turn / 2) * 3 * rate] ?? 0;
});
const diarized = [segment('low', 0, 3), segment('high', 3, 6), segment('low', 6, 9), segment('high', 9, 12)];

async function speakersOf(segments: readonly SpeakerSegment[], chunking: Chunking = defaultChunking) {
  const request = { ...base, audio: wavFile(talk), segments };
  const analyses = await analyzerOf(models, limits, chunking).analyze(request);
  return speakersReportSchema.parse(composeReport(request, analyses, 'test'));
}

async function pitchOf(samples: Float32Array): Promise<number> {
  const [analysis] = await analyzerOf(models, limits).analyze({ ...base, audio: wavFile(samples) });
  return combinedReport(analysis, 'test').cognitive.measures.pitch_level?.value ?? Number.NaN;
}

test('a speaker has the spans without another one, in frames', (t) => {
  const spans = soloSpans(
    [segment('A', 0, 2), segment('A', 1.5, 3), segment('B', 2.5, 5), segment('A', 4, 4.5)],
    100,
  );
  t.deepEqual(spans, [
    [{ start: 0, end: 250 }],
    [
      { start: 300, end: 400 },
      { start: 450, end: 500 },
    ],
  ]);
  t.deepEqual(soloSpans([segment('A', 0, 1), segment('B', 0, 1)], 100), [[], []]);
});

test('a segment that starts after the end is an error, whatever the chunks', async (t) => {
  const message = 'Expected seconds within the 12.0 s of the recording for `segments`, got a start at';
  const inMilliseconds = diarized.map(({ speaker, start, end }) =>
    segment(speaker, 1000 * start, 1000 * end),
  );
  const short = { chunkSeconds: 4, maxCutSeconds: 2 };
  for (const chunking of [defaultChunking, short]) {
    await t.throwsAsync(speakersOf(inMilliseconds, chunking), {
      instanceOf: EngineError,
      code: 'segments',
      message: `${message} 9000 s: these are most likely milliseconds`,
    });
    await t.throwsAsync(speakersOf([...diarized, segment('low', 12, 40_000)], chunking), {
      message: `${message} 12 s`,
    });
  }
  await t.notThrowsAsync(speakersOf([...diarized, segment('low', 11.9, 40_000)]));
});

test('each speaker has the voice, the times and the speech of the own segments', async (t) => {
  const { speakers, status } = await speakersOf(diarized);
  t.is(status, 'ok');
  t.deepEqual(
    speakers.map(({ speaker }) => speaker),
    ['low', 'high'],
  );
  for (const [index, voice] of [low, high].entries()) {
    const report = speakers[index];
    const pitch = report?.cognitive.measures.pitch_level?.value ?? Number.NaN;
    t.true(Math.abs(pitch - (await pitchOf(voice.subarray(0, 6 * rate)))) < 1, `${pitch}`);
    const own = diarized.filter(({ speaker }) => speaker === report?.speaker);
    const spoken = report?.segments.filter(({ type }) => type === 'speech') ?? [];
    for (const { start_s, end_s } of [...spoken, ...(report?.emotion.timeline ?? [])]) {
      t.true(
        own.some(({ start, end }) => start <= start_s && end_s <= end),
        `${start_s} to ${end_s}`,
      );
    }
    t.true((report?.audio.speech_s ?? 0) > 4);
  }
});

test('chunks of a long recording have the same speech', async (t) => {
  const chunking = { chunkSeconds: 5, maxCutSeconds: 2 };
  const [whole, chunked] = [await speakersOf(diarized), await speakersOf(diarized, chunking)];
  for (const [index, { audio }] of whole.speakers.entries()) {
    const got = chunked.speakers[index]?.audio.speech_s ?? 0;
    t.true(Math.abs(got - audio.speech_s) < 0.3, `${got} and ${audio.speech_s}`);
  }
});

test('speech outside of segments, and where two speakers overlap, belongs to nobody', async (t) => {
  const { speakers, status, unassigned } = await speakersOf([
    segment('A', 0, 3),
    segment('B', 0, 3),
    segment('C', 3, 6),
  ]);
  t.is(status, 'insufficient_speech');
  t.deepEqual(
    speakers.map((report) => report.status),
    ['insufficient_speech', 'insufficient_speech', 'ok'],
  );
  t.true((speakers[2]?.audio.speech_s ?? 9) <= 3);
  // Both speak from 0 to 3 s, and nobody has a segment after 6 s.
  const seconds = (from: number, to: number) =>
    unassigned
      .map(({ start_s, end_s }) => Math.max(0, Math.min(end_s, to) - Math.max(start_s, from)))
      .reduce((sum, own) => sum + own, 0);
  t.true(seconds(0, 3) > 2);
  t.is(seconds(3, 6), 0);
  t.true(seconds(6, 12) > 4);
});

test('speech of two at once is no pause of either', async (t) => {
  const pausesOf = async (segments: readonly SpeakerSegment[]) => {
    const [report] = (await speakersOf(segments)).speakers;
    const { long_pause_rate, pause_ratio } = report?.cognitive.measures ?? {};
    return [long_pause_rate?.value ?? Number.NaN, pause_ratio?.value ?? Number.NaN] as const;
  };
  const alone = await pausesOf([segment('A', 0, 12)]);
  const interrupted = await pausesOf([segment('A', 0, 12), segment('B', 4, 5.5)]);
  t.is(interrupted[0], alone[0]);
  t.true(interrupted[1] <= alone[1] + 0.02, `${interrupted} and ${alone}`);
});

test('a segment beyond the end of the recording ends with it', async (t) => {
  const { speakers } = await speakersOf([segment('A', 9, 100), segment('B', 11.9, 60)]);
  t.deepEqual(
    speakers.map(({ status }) => status),
    ['ok', 'insufficient_speech'],
  );
});

// Voices of utterances, and the warnings about speakers through the whole pipeline.

const request = {
  ...defaultOptions,
  baselines: [],
  signals: ['emotion', 'cognitive'],
  cancel: null,
} as const;

const sentences = [1, 2, 3, 4, 5];
const pause = new Float32Array(rate / 2);

/** One utterance per sentence. */
function say(voice: string): Float32Array[] {
  return sentences.map((sentence) => joinArrays([speech(`${voice}-${sentence}`), pause]));
}

const [lowVoice, highVoice] = [say('low'), say('high')];

/** Less than 2 s of each voice. */
const few = [lowVoice, highVoice].flatMap(([sentence]) => [
  (sentence as Float32Array).subarray(0, 1.5 * rate),
  pause,
]);

/** Whether both reports have the warning, or neither. */
async function warns(
  t: ExecutionContext,
  utterances: readonly Float32Array[],
  {
    set = models,
    chunkSeconds = 300,
    warning = 'several_speakers' as Warning,
    speakers = null as SpeakerMode | null,
  } = {},
): Promise<boolean> {
  const chunking = { chunkSeconds, maxCutSeconds: chunkSeconds / 2 };
  const audio = wavFile(joinArrays(utterances));
  const [analysis] = await analyzerOf(set, limits, chunking).analyze({ ...request, speakers, audio });
  const { emotion, cognitive } = combinedReport(analysis, 'test');
  const [first, second] = [emotion, cognitive].map(({ warnings }) => warnings.includes(warning));
  t.is(first, second);
  return first === true;
}

const unit = (...values: number[]) => Float32Array.from(values, (value) => value / Math.hypot(...values));
const near = (angle: number) => unit(Math.cos(angle), Math.sin(angle), 0);

const params = {
  weights: { file: 'voice.onnx', sha256: '0'.repeat(64) },
  framesPerEmbedding: 2,
  minUtteranceSeconds: 0.8,
  maxSimilarity: 0.5,
  minSeconds: 2,
  minShare: 0.1,
};

test('two groups of windows are as near as their means', (t) => {
  const windows = [0, 0.1, 0.2, 0.1, 2, 2.1, 2.2, 2.1].map((angle) => ({ vector: near(angle), seconds: 1 }));
  const near2 = similarityOfTwo(windows, params) ?? Number.NaN;
  const meanOf = (angles: readonly number[]) =>
    angles.map(near).reduce((sum, vector) => sum.map((value, at) => value + (vector[at] as number)));
  const [one, other] = [meanOf([0, 0.1, 0.2, 0.1]), meanOf([2, 2.1, 2.2, 2.1])];
  t.true(Math.abs(near2 - dot(one, other) / Math.sqrt(dot(one, one) * dot(other, other))) < 1e-6);
  const shuffled = [4, 0, 1, 6, 2, 5, 7, 3].map((index) => windows[index] as ChunkVoice);
  t.true(Math.abs((similarityOfTwo(shuffled, params) ?? 0) - near2) < 1e-6);
});

test('a voice has enough seconds and a share of the speech', (t) => {
  const windows = (seconds: number, count: number) => [
    ...Array.from({ length: count }, () => ({ vector: near(0), seconds: 1 })),
    { vector: near(Math.PI), seconds },
  ];
  t.is(similarityOfTwo(windows(1.9, 8), params), null);
  t.true((similarityOfTwo(windows(2, 8), params) ?? 1) < 0);
  t.is(similarityOfTwo(windows(2, 28), params), null, 'less than a tenth');
  t.is(similarityOfTwo(windows(2, 0), params), null);
});

test('windows of a whole recording are read only where two voices fit', (t) => {
  const spoken = (seconds: number, start = 0) => ({
    start,
    end: start + 100 * seconds,
    speechFrames: 100 * seconds,
  });
  t.is(stepOf([spoken(5)], true, params, 100), null);
  t.is(stepOf([spoken(2), spoken(1.9, 300)], true, params, 100), null);
  t.is(stepOf([spoken(9), spoken(0.7, 1000)], true, params, 100), null, 'one is too short');
  t.is(stepOf([spoken(2), spoken(2, 300)], true, params, 100), 400);
  t.is(stepOf([spoken(90), spoken(90, 10_000)], true, params, 100), 600);
  t.is(stepOf([spoken(1)], false, params, 100), 400);
});

test('two speakers in turns are several speakers, one is not', async (t) => {
  t.true(
    await warns(
      t,
      lowVoice.flatMap((utterance, index) => [utterance, highVoice[index] as Float32Array]),
    ),
  );
  t.false(await warns(t, [...lowVoice, ...lowVoice]));
  t.false(await warns(t, [...highVoice, ...highVoice]));
});

test('the warning does not depend on the order of the speakers or on chunks', async (t) => {
  t.true(await warns(t, [...lowVoice, ...highVoice]));
  t.true(await warns(t, [...highVoice, ...lowVoice], { chunkSeconds: 10 }));
  t.false(await warns(t, [...lowVoice, ...lowVoice], { chunkSeconds: 10 }));
});

test('voices of recordings with too little speech for a warning are not compared', async (t) => {
  const stagesOf = async (utterances: readonly Float32Array[], chunkSeconds: number) => {
    const chunking = { chunkSeconds, maxCutSeconds: chunkSeconds / 2 };
    const audio = wavFile(joinArrays(utterances));
    const [{ stages }] = await analyzerOf(models, limits, chunking).analyze({ ...request, audio });
    return stages.map(({ name }) => name);
  };
  t.false((await stagesOf(few, 300)).includes('voices'));
  t.true((await stagesOf([...lowVoice, ...highVoice], 300)).includes('voices'));
  t.true((await stagesOf(few, 2)).includes('voices'), 'a chunk does not know what follows');
});

test('too little speech, or models without the params, have no warning', async (t) => {
  t.false(await warns(t, few));
  t.false(await warns(t, [...lowVoice, ...highVoice], { set: await loadModels(await withoutComparison(t)) }));
});

test('two utterances with too little speech have the warning `speakers_not_compared`, unless they are separated', async (t) => {
  const warning = 'speakers_not_compared';
  t.true(await warns(t, few, { warning }));
  t.true(await warns(t, few, { warning, chunkSeconds: 2 }));
  t.true(await warns(t, [...lowVoice.slice(0, 1), high.subarray(0, 0.9 * rate)], { warning }));
  t.false(await warns(t, few.slice(0, 1), { warning }), 'one utterance');
  t.false(await warns(t, lowVoice, { warning }));
  t.false(await warns(t, few, { warning, speakers: 'auto' }));
  t.false(await warns(t, few, { warning, set: await loadModels(await withoutComparison(t)) }));
});

const speaker = (
  speechSeconds: number,
  values: Readonly<Record<string, number>>,
  first: number,
): Speaker => ({
  measures: Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, unit: 's' }])),
  speechSeconds,
  cepstrum: [first, 0],
});

test('means are weighted by speech, over the recordings that have the measure', (t) => {
  const joined = joinSpeakers([
    speaker(10, { mean_run: 1, pitch_level: 20 }, 1),
    speaker(30, { mean_run: 3 }, 5),
  ]);
  t.deepEqual(joined, {
    measures: { mean_run: { value: 2.5, unit: 's' }, pitch_level: { value: 20, unit: 's' } },
    speechSeconds: 40,
    cepstrum: [4, 0],
  });
});

test('one recording stays as it is, none is null', (t) => {
  const one = speaker(10, { mean_run: 1 }, 1);
  t.is(joinSpeakers([one]), one);
  t.is(joinSpeakers([]), null);
});
