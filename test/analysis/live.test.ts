/** A live session against the report of the same samples. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { analyzerOf } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { syntheticSignal } from '../../src/engine/golden.ts';
import type { LiveState, LiveStep } from '../../src/engine/live.ts';
import type { LiveMessage } from '../../src/engine/live-messages.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { wavHeader } from '../../src/engine/pcm.ts';
import { combinedReport } from '../../src/engine/report.ts';
import type { Relative } from '../../src/engine/schema.ts';
import type { SpeakerMode } from '../../src/engine/voices.ts';
import { createAnalyzer, loadModels } from '../../src/node/models.ts';
import { limits } from '../support/analysis.ts';
import { withoutVoice } from '../support/models.ts';
import { callOf, sentence, talk } from '../support/recordings.ts';
import { dataOf } from '../support/stream-client.ts';

const signals = ['emotion', 'cognitive'] as const;
const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
const sample = dataOf(readFileSync('examples/sample.wav'));
const stepSeconds = 0.25;

const mono = { encoding: 's16le', sampleRate: 16_000, channels: 1 } as const;
/** What no test changes. */
const whole = { format: mono, state: null, signals, split: false, speakers: null, cause: null, cancel: null };

type Ask = { readonly atStep: number; readonly cause: 'turn.end' };

/** @param sampleRate of the samples as they are taken: another one changes their pitch */
async function stream(
  samples: Buffer,
  sampleRate = 16_000,
  ask: Ask | null = null,
  channels = 1,
  speakers: SpeakerMode | null = null,
) {
  const format = { encoding: 's16le', sampleRate, channels } as const;
  const bytes = 2 * channels * Math.round(stepSeconds * sampleRate);
  const messages: LiveMessage[] = [];
  let state: LiveState | null = null;
  let largest = 0;
  for (let at = 0, step = 1; at < samples.length; at += bytes, step++) {
    const isLast = at + bytes >= samples.length;
    const cause: LiveStep['cause'] = isLast ? 'session.end' : step === ask?.atStep ? ask.cause : null;
    const output = await analyzer.live({
      ...whole,
      format,
      bytes: samples.subarray(at, at + bytes),
      speakers,
      cause,
      state: structuredClone(state),
      measure: step % 12 === 0,
    });
    state = output.state;
    largest = Math.max(largest, bytesOf(state));
    messages.push(...output.messages);
  }
  /** Of the same samples as a file. */
  const report = async () => {
    const audio = Buffer.concat([wavHeader(format, samples.length), samples]);
    const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null };
    const [analysis] = await analyzer.analyze(request);
    return combinedReport(analysis, '');
  };
  return { messages, largest, report };
}

function bytesOf(value: unknown): number {
  if (ArrayBuffer.isView(value)) return value.byteLength;
  if (typeof value !== 'object' || value === null) return 8;
  return Object.values(value).reduce<number>((sum, part) => sum + bytesOf(part), 0);
}

test('a step measures speech for the requested signals alone', async (t) => {
  const step = { ...whole, bytes: sample.subarray(0, 32_000), measure: true };
  for (const [signal, measured] of [
    ['emotion', []],
    ['cognitive', ['cognitive']],
  ] as const) {
    const { state } = await analyzer.live({ ...step, signals: [signal] });
    t.deepEqual(Object.keys(state.channels[0]?.speech.totals ?? {}), measured);
  }
});

type Turn = LiveMessage & {
  readonly start_s: number;
  readonly end_s: number;
  readonly provisional: boolean;
  readonly speaker?: string | null;
  readonly emotion: {
    readonly valence: number;
    readonly arousal: number;
    readonly relative: Relative | null;
  };
};
type Measurement = LiveMessage & {
  readonly start_s: number;
  readonly speech_s: number;
  readonly warnings: readonly string[];
  readonly emotion: { readonly intervals: { readonly arousal: readonly [number, number] } };
};
const measurementsOf = (messages: readonly LiveMessage[]) =>
  messages.filter(({ type }) => type === 'measurement') as Measurement[];
const turnsOf = (messages: readonly LiveMessage[]) =>
  messages.filter(({ type }) => type === 'turn') as Turn[];

for (const sampleRate of [16_000, 22_050]) {
  test(`utterances of a session at ${sampleRate} Hz are those of the report`, async (t) => {
    const { messages, largest, report } = await stream(sample, sampleRate);
    const turns = turnsOf(messages);
    const { timeline } = (await report()).emotion;
    t.true(timeline.length > 2);
    t.is(turns.length, timeline.length);
    for (const [index, { start_s, end_s, valence, arousal }] of timeline.entries()) {
      const turn = turns[index] as Turn;
      t.false(turn.provisional);
      t.true(Math.abs(turn.start_s - start_s) <= 0.1 && Math.abs(turn.end_s - end_s) <= 0.1);
      const apart = Math.max(
        Math.abs(turn.emotion.valence - Number(valence)),
        Math.abs(turn.emotion.arousal - Number(arousal)),
      );
      t.true(apart <= 0.02, `utterance ${index}: ${apart}`);
    }
    t.true(largest <= 450_000, `${largest} bytes`);
  });
}

test('turns are relative to the utterances before them as entries of the report are', async (t) => {
  const spoken = callOf(52).subarray(44);
  const { messages, report } = await stream(spoken);
  const turns = turnsOf(messages);
  const { timeline } = (await report()).emotion;
  t.true(timeline.length > 45);
  t.is(turns.length, timeline.length);
  let compared = 0;
  for (const [index, { relative }] of timeline.entries()) {
    const own = turns[index]?.emotion.relative;
    t.is(own?.to, relative?.to);
    if (relative === null) continue;
    compared++;
    t.is(relative.to, 'earlier');
    for (const name of ['valence', 'arousal'] as const)
      t.true(Math.abs(Number(own?.[name].change) - relative[name].change) <= 0.02, `utterance ${index}`);
    t.true(Math.abs(Number(own?.probability) - Number(relative.probability)) <= 0.02, `utterance ${index}`);
  }
  t.true(compared >= timeline.length - 8);
  const [last] = timeline.slice(-1);
  const own = timeline.slice(-41, -1).filter(({ start_s, end_s }) => end_s - start_s > 1.05);
  const arousal = own.map((one) => Number(one.arousal)).sort((one, other) => one - other);
  const median =
    ((arousal[Math.floor((arousal.length - 1) / 2)] ?? 0) +
      (arousal[Math.ceil((arousal.length - 1) / 2)] ?? 0)) /
    2;
  t.true(Math.abs(Number(last?.arousal) - median - Number(last?.relative?.arousal.change)) < 0.02);
});

function toBytes(samples: Float32Array): Buffer {
  const bytes = Buffer.alloc(2 * samples.length);
  for (const [at, value] of samples.entries()) bytes.writeInt16LE(Math.round(32_767 * value), 2 * at);
  return bytes;
}

for (const speakers of ['2', 'auto'] as const) {
  test(`each turn has its speaker: ${speakers}`, async (t) => {
    const { samples, turns: built } = talk(['low', 'high'], 0.6);
    const { messages, largest } = await stream(toBytes(samples), 16_000, null, 1, speakers);
    const turns = turnsOf(messages);
    t.true(turns.length >= 10);
    for (const { start_s, end_s, speaker } of turns) {
      const { voice } = built.findLast(({ start }) => start <= (start_s + end_s) / 2) ?? {};
      t.is(speaker, voice === 'low' ? '1' : '2', `${start_s} to ${end_s} s`);
    }
    t.true(largest <= 450_000, `${largest} bytes`);
  });
}

test('a voice that speaks alone first is one speaker until another one speaks', async (t) => {
  const longer = new Float32Array(0.7 * 16_000);
  const names = ['low', 'high'].flatMap((voice) => [1, 2, 3, 4, 5].map((number) => `${voice}-${number}`));
  const samples = joinArrays(names.flatMap((name) => [sentence(name), longer]));
  for (const speakers of ['2', '6', 'auto'] as const) {
    const turns = turnsOf((await stream(toBytes(samples), 16_000, null, 1, speakers)).messages);
    t.deepEqual(
      turns.map(({ cause }) => cause),
      turns.map(() => 'pause'),
      speakers,
    );
    t.deepEqual(
      turns.map(({ speaker }) => speaker),
      names.map((name) => (name.startsWith('low') ? '1' : '2')),
      speakers,
    );
    // Four utterances of the same speaker come before the first that is compared.
    const compared = turns.map(({ emotion }) => emotion.relative !== null);
    t.deepEqual([compared.indexOf(true), compared.indexOf(true, 5)], [4, 9], speakers);
  }
});

const gap = new Float32Array(0.6 * 16_000);
const apart = [1, 2].flatMap((number) => [sentence(`low-${number}`), gap, sentence(`high-${number}`), gap]);

test('turn.end cuts the open utterance by voice too', async (t) => {
  const before = joinArrays([...apart, sentence('low-3'), sentence('high-3')]);
  const ask = { atStep: Math.floor(before.length / 4000) - 1, cause: 'turn.end' } as const;
  const { messages } = await stream(toBytes(joinArrays([before, gap])), 16_000, ask, 1, '2');
  const open = turnsOf(messages).filter(({ provisional }) => provisional);
  t.like(open, [
    { cause: 'speaker', speaker: '1' },
    { cause: 'turn.end', speaker: '2', start_s: open[0]?.end_s },
  ]);
});

test('a turn ends where another voice begins', async (t) => {
  const samples = joinArrays([...apart, sentence('low-3'), sentence('high-3'), gap]);
  const { messages } = await stream(toBytes(samples), 16_000, null, 1, '2');
  const turns = turnsOf(messages);
  const change = turns.findIndex(({ cause }) => cause === 'speaker');
  t.like(turns.slice(change), [
    { speaker: '1', provisional: false },
    { speaker: '2', cause: 'pause', start_s: turns[change]?.end_s },
  ]);
  const built = (samples.length - gap.length - sentence('high-3').length) / 16_000;
  t.true(Math.abs(Number(turns[change]?.end_s) - built) < 0.3);
});

test('a turn is compared with those of its speaker', async (t) => {
  const bytes = toBytes(talk(['low', 'high'], 0.6).samples);
  const twice = Buffer.concat([bytes, bytes]);
  const { messages } = await stream(twice, 16_000, null, 1, '2');
  const own = turnsOf(messages).filter(({ speaker }) => speaker === '2');
  const alone = turnsOf((await stream(twice)).messages);
  const compared = own.filter(({ emotion }) => emotion.relative !== null);
  t.true(compared.length > 2);
  for (const { start_s, emotion } of compared) {
    const all = alone.find((turn) => turn.start_s === start_s);
    if (all !== undefined) t.notDeepEqual(emotion.relative, all.emotion.relative);
  }
});

test('a set without a voice model refuses speakers', async (t) => {
  const models = await loadModels(await withoutVoice(t));
  const step = { ...whole, bytes: sample, measure: false, speakers: '2' } as const;
  const live = analyzerOf(models, limits).live(step);
  await t.throwsAsync(live, { message: /^Expected models with a voice model for `speakers`, got none/ });
});

test('cognitive signals of the session so far end near those of the report', async (t) => {
  const samples = Buffer.concat([sample, Buffer.alloc(32_000 * 4), sample]);
  const { messages, report } = await stream(samples);
  const last = messages.filter(({ type }) => type === 'measurement').at(-1)?.cognitive as Record<
    string,
    number
  >;
  const { signals: final } = (await report()).cognitive as { signals: Record<string, number> };
  for (const name of ['cognitive_load', 'processing', 'clarity'] as const) {
    t.true(Math.abs((last[name] as number) - (final[name] as number)) <= 0.05, name);
  }
});

test('turn.end shows the open utterance, which goes on', async (t) => {
  const { messages, report } = await stream(sample, 16_000, { atStep: 9, cause: 'turn.end' });
  const [open, whole] = turnsOf(messages);
  t.like(open, { provisional: true, cause: 'turn.end' });
  t.like(whole, { provisional: false, start_s: open?.start_s });
  t.true((whole?.end_s ?? 0) > (open?.end_s ?? 0));
  const { timeline } = (await report()).emotion;
  t.is(turnsOf(messages).filter(({ provisional }) => !provisional).length, timeline.length);
});

test('a measurement of a short utterance after silence has the intervals of little speech', async (t) => {
  const one = sample.subarray(0, 2 * 16_000 * 2);
  const silence = Buffer.alloc(2 * 16_000 * 12);
  const { messages } = await stream(Buffer.concat([sample, silence, one, Buffer.alloc(2 * 16_000 * 3)]));
  const measured = measurementsOf(messages);
  const width = ({ emotion }: Measurement) => emotion.intervals.arousal[1] - emotion.intervals.arousal[0];
  const short = measured.at(-1);
  const before = measured.find(({ start_s, speech_s }) => start_s > 10 && speech_s > 5);
  t.true((short?.speech_s ?? 9) < 3, `${short?.speech_s}`);
  t.true(short?.warnings.includes('short_speech'));
  t.true(short !== undefined && before !== undefined && width(short) > width(before));
});

test('noise of a pause does not make channels differ', async (t) => {
  const frames = 12 * 16_000;
  const bytes = Buffer.alloc(4 * frames);
  const noise = [syntheticSignal(1, 12), syntheticSignal(2, 12)];
  for (let frame = 0; frame < frames; frame++) {
    const voice = frame < 8 * 16_000 ? sample.readInt16LE(2 * frame) : 0;
    for (const [channel, own] of noise.entries())
      bytes.writeInt16LE(Math.round(0.9 * voice + 50 * (own[frame] ?? 0)), 4 * frame + 2 * channel);
  }
  const measured = measurementsOf((await stream(bytes, 16_000, null, 2)).messages);
  t.true(measured.length > 2);
  for (const { warnings } of measured) t.false(warnings.includes('channels_differ'));
});
