/** An utterance counts as itself: what stands before and after it, and where the file ends, does not move its scores. */
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import type { CombinedReport } from '../../src/engine/report.ts';
import { type Reporter, reporter, speech } from '../support/analysis.ts';

const rate = 16_000;
/** Of valence and arousal, as after a shift of the sound by a part of the hop. */
const maxChange = 0.03;
/** Two labels whose probabilities differ by less are tied. */
const tie = 0.03;
/** An utterance that ended so long before the end of the file is decided, s. */
const decided = 0.5;
/** Scores are printed with four digits. */
const digits = 0.001;

type Entry = CombinedReport['emotion']['timeline'][number];
type Span = { readonly start: number; readonly end: number };
type Scores = Pick<Entry, 'valence' | 'arousal' | 'emotions'>;

const voices = [
  'en-us+m3-140',
  'en-gb+f4-210',
  'en-us+f2-110',
  'en-us+croak-190',
  'en-gb+m5-160',
  'en-us+f5-175',
] as const;

/** From the first to the last sound, peak at -12 dBFS. */
function speak(voice: string): Float32Array {
  const samples = speech(voice);
  const peak = samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
  const isSound = (sample: number) => Math.abs(sample) > 0.01 * peak;
  const sound = samples.subarray(samples.findIndex(isSound), samples.findLastIndex(isSound) + 1);
  return sound.map((sample) => (0.25 * sample) / peak);
}

const utterances = voices.map((voice) => speak(voice));
const silence = (seconds: number) => new Float32Array(Math.ceil(seconds * rate));
const scaled = (samples: Float32Array, decibels: number) =>
  samples.map((sample) => sample * 10 ** (decibels / 20));

/** Uniform noise, the same each time. */
function noise(seconds: number, dbfs: number): Float32Array {
  const samples = silence(seconds);
  let state = 1;
  const gain = Math.sqrt(3) * 10 ** (dbfs / 20);
  return samples.map(() => {
    state = (state * 48_271) % 2_147_483_647;
    return gain * ((2 * state) / 2_147_483_647 - 1);
  });
}

/** The entry that overlaps the span most. */
function entryAt({ emotion }: CombinedReport, span: Span): Entry | undefined {
  const overlap = ({ start_s, end_s }: Entry) => Math.min(end_s, span.end) - Math.max(start_s, span.start);
  const [best] = emotion.timeline.toSorted((one, other) => overlap(other) - overlap(one));
  return best !== undefined && overlap(best) > 0 ? best : undefined;
}

const indexOf = (emotions: Scores['emotions'], label: string) => emotions[label] ?? Number.NaN;
const dominantOf = ({ emotions }: Scores) =>
  Object.keys(emotions).reduce((best, label) =>
    indexOf(emotions, label) > indexOf(emotions, best) ? label : best,
  );

/** Valence and arousal that moved, in words. */
function scoreMoves(before: Scores, after: Scores | undefined): string[] {
  if (after === undefined) return ['has no entry'];
  return (['valence', 'arousal'] as const)
    .filter((name) => Math.abs(Number(after[name]) - Number(before[name])) > maxChange)
    .map((name) => `${name} ${before[name]?.toFixed(3)} to ${after[name]?.toFixed(3)}`);
}

/** What moved by more than the bounds allow, in words. */
function movesOf(before: Scores, after: Scores | undefined): string[] {
  const moves = scoreMoves(before, after);
  if (after === undefined) return moves;
  const [was, is] = [dominantOf(before), dominantOf(after)];
  const margin = indexOf(before.emotions, was) - indexOf(before.emotions, is);
  return margin <= tie ? moves : [...moves, `${was} to ${is}, ${margin.toFixed(2)} apart`];
}

/** Fails once, with the first changes. */
function expectNone(t: ExecutionContext, changes: readonly string[]): void {
  t.is(changes.length, 0, `${changes.length} changes:\n${changes.slice(0, 12).join('\n')}`);
}

/** What stands before and after an utterance, 0.5 s of silence away and more. */
const contexts: Readonly<
  Record<string, (other: Float32Array) => readonly [before: Float32Array, after: Float32Array]>
> = {
  'silence before': () => [silence(10), silence(0)],
  'silence after': () => [silence(0), silence(10)],
  'silence around': () => [silence(3), silence(7)],
  'noise at -52 dBFS before': () => [noise(4, -52), silence(0)],
  'noise at -52 dBFS after': () => [silence(0), noise(4, -52)],
  'noise at -60 dBFS around': () => [noise(8, -60), noise(8, -60)],
  'speech before': (other) => [other, silence(0)],
  'speech after': (other) => [silence(0), other],
  'speech around, 3 s away': (other) => [
    joinArrays([other, silence(2.5)]),
    joinArrays([silence(2.5), other]),
  ],
  'louder speech before': (other) => [scaled(other, 10), silence(0)],
  'softer speech after': (other) => [silence(0), scaled(other, -20)],
};

type Analysed = { readonly own: CombinedReport; readonly span: Span };

async function analyse(
  report: Reporter,
  utterance: Float32Array,
  before: Float32Array,
  after: Float32Array,
): Promise<Analysed> {
  const lead = joinArrays([before, silence(decided)]);
  const own = await report(wavFile(joinArrays([lead, utterance, silence(decided), after]), rate));
  return { own, span: { start: lead.length / rate, end: (lead.length + utterance.length) / rate } };
}

async function scoresOf(...parts: Parameters<typeof analyse>): Promise<Entry | undefined> {
  const { own, span } = await analyse(...parts);
  return entryAt(own, span);
}

type Recording = { readonly samples: Float32Array; readonly spans: ReadonlyMap<number, Span> };

/** The utterances in an order, with pauses between them. */
function recordingOf(order: readonly number[], pauses: readonly number[]): Recording {
  const spans = new Map<number, Span>();
  const parts: Float32Array[] = [];
  let at = 0;
  const add = (part: Float32Array) => {
    parts.push(part);
    at += part.length / rate;
  };
  for (const [place, index] of order.entries()) {
    add(silence(pauses[place % pauses.length] as number));
    const start = at;
    add(utterances[index] as Float32Array);
    spans.set(index, { start, end: at });
  }
  add(silence(decided));
  return { samples: joinArrays(parts), spans };
}

const everyIndex = voices.map((_, index) => index);
const call = recordingOf(everyIndex, [0.5, 0.9, 3, 0.6, 1.5]);

/** Entries that ended before the decision at a cut, s. */
const decidedBy = ({ emotion }: CombinedReport, cut: number) =>
  emotion.timeline.filter(({ end_s }) => end_s <= cut - decided);

type Cut = { readonly cut: number; readonly whole: readonly Entry[]; readonly own: readonly Entry[] };

async function cutsOf(report: Reporter): Promise<Cut[]> {
  const whole = await report(wavFile(call.samples, rate));
  const cuts: Cut[] = [];
  for (let cut = 2.03; cut < call.samples.length / rate; cut += 0.61) {
    const own = await report(wavFile(call.samples.subarray(0, Math.round(cut * rate)), rate));
    cuts.push({ cut, whole: decidedBy(whole, cut), own: decidedBy(own, cut) });
  }
  return cuts;
}

const describe = (entry: Entry | undefined) =>
  entry === undefined
    ? 'no entry'
    : `${entry.start_s} to ${entry.end_s} s ${entry.dominant_emotion} ${entry.valence} ${entry.arousal}`;

const isNear = (one: number, other: number) => Math.abs(one - other) <= digits;

function isSame(one: Entry | undefined, other: Entry | undefined): boolean {
  if (one === undefined || other === undefined) return false;
  if (one.start_s !== other.start_s || one.end_s !== other.end_s) return false;
  const labels = Object.keys(one.emotions);
  return (
    isNear(Number(one.valence), Number(other.valence)) &&
    isNear(Number(one.arousal), Number(other.arousal)) &&
    labels.every((label) => isNear(indexOf(one.emotions, label), indexOf(other.emotions, label)))
  );
}

const hasSameIntervals = ({ intervals }: Entry, other: Entry | undefined) =>
  (['valence', 'arousal'] as const).every((name) =>
    intervals[name]?.every((bound, end) => isNear(bound, other?.intervals[name]?.[end] ?? Number.NaN)),
  );

for (const models of ['standard', 'fast']) {
  const opened = reporter(`models/${models}`);

  for (const [context, around] of Object.entries(contexts)) {
    test.serial(`${models}: ${context} does not move an utterance`, async (t) => {
      const report = await opened;
      const moves: string[] = [];
      for (const [index, utterance] of utterances.entries()) {
        const other = utterances[(index + 1) % utterances.length] as Float32Array;
        const alone = await scoresOf(report, utterance, silence(0), silence(0));
        if (alone === undefined) return t.fail(`Expected speech in utterance ${index}`);
        const amid = await scoresOf(report, utterance, ...around(other));
        moves.push(...movesOf(alone, amid).map((move) => `utterance ${index}: ${move}`));
      }
      expectNone(t, moves);
    });
  }

  test.serial(
    `${models}: the end of the file changes no utterance that ended ${decided} s before`,
    async (t) => {
      const changes: string[] = [];
      for (const { cut, whole, own } of await cutsOf(await opened)) {
        for (const index of Array(Math.max(whole.length, own.length)).keys()) {
          const [entry, other] = [whole[index], own[index]];
          if (!isSame(entry, other))
            changes.push(`cut at ${cut.toFixed(2)} s: ${describe(entry)}, ${describe(other)}`);
        }
      }
      expectNone(t, changes);
    },
  );

  test.serial(`${models}: the end of the file changes no interval of them`, async (t) => {
    const changes: string[] = [];
    for (const { cut, whole, own } of await cutsOf(await opened)) {
      for (const [index, entry] of whole.entries()) {
        const other = own[index];
        if (hasSameIntervals(entry, other)) continue;
        const [was, is] = [entry, other].map((one) => JSON.stringify(one?.intervals ?? null));
        changes.push(`cut at ${cut.toFixed(2)} s: ${was} ${is}`);
      }
    }
    expectNone(t, changes);
  });

  test.serial(`${models}: where frames begin in the sound does not move an utterance`, async (t) => {
    const report = await opened;
    const moves: string[] = [];
    for (const [index, utterance] of utterances.entries()) {
      const alone = await scoresOf(report, utterance, silence(0), silence(0));
      if (alone === undefined) return t.fail(`Expected speech in utterance ${index}`);
      for (const samples of [40, 80, 120, 160, 333, 500]) {
        const shifted = await scoresOf(report, utterance, new Float32Array(samples), silence(0));
        const found = movesOf(alone, shifted);
        moves.push(...found.map((move) => `utterance ${index}, ${samples} samples: ${move}`));
      }
    }
    expectNone(t, moves);
  });

  test.serial(`${models}: the order of utterances does not matter`, async (t) => {
    const report = await opened;
    const first = await report(wavFile(call.samples, rate));
    const moves: string[] = [];
    for (const order of [everyIndex.toReversed(), [2, 5, 0, 3, 1, 4], [3, 0, 4, 1, 5, 2]]) {
      const other = recordingOf(order, [0.5, 0.9, 3, 0.6, 1.5]);
      const found = await report(wavFile(other.samples, rate));
      for (const [index, span] of call.spans) {
        const before = entryAt(first, span);
        if (before === undefined) return t.fail(`Expected an entry for utterance ${index}`);
        const after = entryAt(found, other.spans.get(index) as Span);
        moves.push(...movesOf(before, after).map((move) => `${order}: utterance ${index}: ${move}`));
      }
      const whole = movesOf(first.emotion.signals as Scores, found.emotion.signals as Scores);
      moves.push(...whole.map((move) => `${order}: the recording: ${move}`));
    }
    expectNone(t, moves);
  });

  test.serial(`${models}: negative control: utterances differ from each other`, async (t) => {
    const report = await opened;
    const scores: Entry[] = [];
    for (const utterance of utterances) {
      const entry = await scoresOf(report, utterance, silence(0), silence(0));
      if (entry !== undefined) scores.push(entry);
    }
    const pairs = scores.flatMap((one, index) =>
      scores.slice(index + 1).map((other) => [one, other] as const),
    );
    const alike = pairs.filter(([one, other]) => movesOf(one, other).length === 0);
    t.is(pairs.length, 15);
    t.true(alike.length <= 2, `${alike.length} pairs are alike`);
  });
}
