/**
 * What a baseline does to cognitive_load: the variance between speakers and within them, and what two pauses more do,
 * with and without one. node --import tsx training/baselines.ts LINES: LINES is what training/measure.ts wrote. A
 * speaker's recordings are parted in turn; one part, put together, is the baseline of the others.
 */
import { readFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { argv, stdout } from 'node:process';
import { fileURLToPath } from 'node:url';
import { loadModels } from '../src/models/registry.ts';
import { computeIndex, type Measured } from '../src/signals/indices.ts';

type Line = {
  readonly path: string;
  readonly speech_s: number;
  readonly measures: Readonly<Record<string, number>>;
};

const minSpeechSeconds = 3;
const minRecordings = 4;
const [pauses, pauseSeconds] = [2, 0.5];
const turns = 4;
const equalSeconds = 8;
const half = (count: number): number => Math.floor(count / 2);
/** Where a file's name tells its speaker, as heldout.json spells it. */
const speakers: Readonly<Record<string, (name: string) => string>> = {
  speechocean762: (name) => String(Number(name.slice(0, 5))),
  LibriSpeech: (name) => name.split('-')[0] ?? name,
};
const heldOut: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(new URL('heldout.json', import.meta.url), 'utf8'),
);

function bySpeaker(file: string, set: string, held: boolean): Measured[][] {
  const out = new Set(heldOut[set]?.map((speaker) => String(Number(speaker))));
  const found = new Map<string, Measured[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { path, speech_s, measures } = JSON.parse(line) as Line;
    const speaker = speakers[set]?.(basename(path)) ?? path;
    if (dirname(path) !== set || speech_s < minSpeechSeconds || out.has(speaker) !== held) continue;
    found.set(speaker, [...(found.get(speaker) ?? []), measured(measures, speech_s)]);
  }
  return [...found.values()].filter(({ length }) => length >= minRecordings);
}

function measured(values: Readonly<Record<string, number>>, speechSeconds: number): Measured {
  const units = Object.entries(values).map(([name, value]) => [name, { value, unit: '' }]);
  return { measures: Object.fromEntries(units), speechSeconds };
}

const valueOf = ({ measures }: Measured, name: string): number => measures[name]?.value ?? Number.NaN;

/** Seconds of pause and number of runs of a recording. */
function timing(heard: Measured): { pause: number; runs: number } {
  const ratio = valueOf(heard, 'pause_ratio');
  const runs = heard.speechSeconds / valueOf(heard, 'mean_run');
  return { pause: (heard.speechSeconds * ratio) / (1 - ratio), runs };
}

/** Recordings put together: timing from sums, the voice from means weighted by speech. */
function join(parts: readonly Measured[]): Measured {
  const speech = sum(parts.map(({ speechSeconds }) => speechSeconds));
  const pause = sum(parts.map((part) => timing(part).pause));
  const runs = sum(parts.map((part) => timing(part).runs));
  const voice = ['pitch_level', 'pitch_range', 'spectral_tilt'].flatMap((name) => {
    const told = parts.filter(({ measures }) => measures[name] !== undefined);
    const weight = sum(told.map(({ speechSeconds }) => speechSeconds));
    const total = sum(told.map((part) => part.speechSeconds * valueOf(part, name)));
    return weight > 0 ? [[name, total / weight]] : [];
  });
  return measured(
    { pause_ratio: pause / (speech + pause), mean_run: speech / runs, ...Object.fromEntries(voice) },
    speech,
  );
}

/** The same recording with two pauses more. */
function withPauses(heard: Measured): Measured {
  const { pause, runs } = timing(heard);
  const [longer, speech] = [pause + pauses * pauseSeconds, heard.speechSeconds];
  const timed = measured({ pause_ratio: longer / (speech + longer), mean_run: speech / (runs + pauses) }, speech);
  return { ...heard, measures: { ...heard.measures, ...timed.measures } };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
const mean = (values: readonly number[]): number => sum(values) / values.length;

function variance(values: readonly number[]): number {
  const centre = mean(values);
  return sum(values.map((value) => (value - centre) ** 2)) / (values.length - 1);
}

/** One-way analysis: the variance of speakers' true means, and the one around them. */
function parts(groups: readonly (readonly number[])[]): { between: number; within: number } {
  const within = mean(groups.map(variance));
  const size = groups.length / sum(groups.map(({ length }) => 1 / length));
  return { between: Math.max(0, variance(groups.map(mean)) - within / size), within };
}

/** A part of a speaker's recordings, and the others. */
type Parted = { readonly baseline: Measured; readonly others: readonly Measured[] };

/** Each quarter's start in turn: the recordings from there on are the baseline, half of them or one. */
function partings(group: readonly Measured[], count: number): Parted[] {
  return Array.from({ length: turns }, (_, turn) => {
    const start = Math.floor((turn * group.length) / turns);
    const turned = [...group.slice(start), ...group.slice(0, start)];
    return { baseline: join(turned.slice(0, count)), others: turned.slice(count) };
  });
}

type Score = (heard: Measured, baseline: Measured) => number;

/** Variances between and within, and the mean response to more pauses, over all turns. */
function judge(groups: readonly (readonly Measured[])[], count: (length: number) => number, score: Score) {
  const all = groups.map((group) => partings(group, count(group.length)));
  const found = Array.from({ length: turns }, (_, turn) => {
    const turned = all.map((ways) => ways[turn] as Parted);
    const rows = turned.map(({ baseline, others }) => others.map((heard) => score(heard, baseline)));
    const moves = turned.flatMap(({ baseline, others }) =>
      others.map((heard) => score(withPauses(heard), baseline) - score(heard, baseline)),
    );
    return { ...parts(rows), response: mean(moves) };
  });
  const over = (name: 'between' | 'within' | 'response') => mean(found.map((row) => row[name]));
  return { between: over('between'), within: over('within'), response: over('response') };
}

async function main([file]: string[]): Promise<void> {
  if (file === undefined) throw new Error('Expected LINES for `arguments`');
  const models = await loadModels(fileURLToPath(new URL('../models', import.meta.url)));
  const { rule } = models.cognitive.manifest;
  const load = (heard: Measured, baseline: Measured | null) =>
    computeIndex(heard, rule.cognitiveLoad, rule, baseline).score;
  stdout.write('| set | speakers | baseline | between | within | response |\n|---|---|---|---|---|---|\n');
  for (const [set, held] of Object.keys(speakers).flatMap((name) => [[name, false], [name, true]] as const)) {
    const groups = bySpeaker(file, set, held);
    if (groups.length < minRecordings) continue;
    const equal = groups.map((group) => group.map((heard) => ({ ...heard, speechSeconds: equalSeconds })));
    for (const [title, chosen, count] of [
      ['one recording', groups, () => 1],
      ['half of them', groups, half],
      [`half of them, each taken for ${equalSeconds} s of speech`, equal, half],
    ] as const) {
      const alone = judge(chosen, count, (heard) => load(heard, null));
      const beside = judge(chosen, count, load);
      const ratios = (['between', 'within', 'response'] as const).map((name) => (beside[name] / alone[name]).toFixed(2));
      const who = `${set}${held ? ', held out' : ''}`;
      stdout.write(`| ${who} | ${groups.length} | ${title} | ${ratios.join(' | ')} |\n`);
    }
  }
}

await main(argv.slice(2));
