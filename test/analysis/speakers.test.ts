/** `segments`: one report per speaker that the caller names. */
import test from 'ava';
import { wavFile } from '../../benchmarks/wav.ts';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import {
  type Chunking,
  defaultChunking,
  defaultOptions,
  type SpeakerSegment,
  soloSpans,
} from '../../src/engine/chunks.ts';
import { composeReport, speakersReportSchema } from '../../src/engine/compose-report.ts';
import { combinedReport } from '../../src/engine/report.ts';
import { loadModels } from '../../src/node/models.ts';
import { limits, speech } from '../support/analysis.ts';

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

test('a segment beyond the end of the recording ends with it', async (t) => {
  const { speakers } = await speakersOf([segment('A', 9, 100), segment('B', 50, 60)]);
  t.deepEqual(
    speakers.map(({ status }) => status),
    ['ok', 'insufficient_speech'],
  );
});
