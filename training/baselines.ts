/**
 * What a baseline does to cognitive_load: the variance between speakers and within them, with and without one.
 * node --import tsx training/baselines.ts LINES: LINES is what training/measure.ts wrote. A speaker's first recording is
 * the baseline of the others.
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
/** Where a file's name tells its speaker. */
const speakers: Readonly<Record<string, (name: string) => string>> = {
  speechocean762: (name) => name.slice(0, 5),
  LibriSpeech: (name) => name.split('-')[0] ?? name,
};

function bySpeaker(file: string, set: string): Measured[][] {
  const found = new Map<string, Measured[]>();
  for (const line of readFileSync(file, 'utf8').split('\n').filter(Boolean)) {
    const { path, speech_s, measures } = JSON.parse(line) as Line;
    if (dirname(path) !== set || speech_s < minSpeechSeconds) continue;
    const units = Object.entries(measures).map(([name, value]) => [name, { value, unit: '' }]);
    const speaker = speakers[set]?.(basename(path)) ?? path;
    found.set(speaker, [
      ...(found.get(speaker) ?? []),
      { measures: Object.fromEntries(units), speechSeconds: speech_s },
    ]);
  }
  return [...found.values()].filter(({ length }) => length >= minRecordings);
}

function variance(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
}

/** One-way analysis: the variance of speakers' true means, and the one around them. */
function parts(groups: readonly (readonly number[])[]): { between: number; within: number } {
  const within = groups.reduce((sum, group) => sum + variance(group), 0) / groups.length;
  const means = groups.map((group) => group.reduce((sum, value) => sum + value, 0) / group.length);
  const size = groups.length / groups.reduce((sum, { length }) => sum + 1 / length, 0);
  return { between: Math.max(0, variance(means) - within / size), within };
}

async function main([file]: string[]): Promise<void> {
  if (file === undefined) throw new Error('Expected LINES for `arguments`');
  const models = await loadModels(fileURLToPath(new URL('../models', import.meta.url)));
  const { rule } = models.cognitive.manifest;
  stdout.write('| set | speakers | | between speakers | within |\n|---|---|---|---|---|\n');
  for (const set of Object.keys(speakers)) {
    const groups = bySpeaker(file, set);
    for (const [name, relative] of [
      ['alone', false],
      ['beside a baseline', true],
    ] as const) {
      const loads = groups.map(([first, ...others]) =>
        others.map(
          (heard) => computeIndex(heard, rule.cognitiveLoad, rule, relative ? (first as Measured) : null).score,
        ),
      );
      const { between, within } = parts(loads);
      const shown = [between, within].map((value) => Math.sqrt(value).toFixed(4)).join(' | ');
      stdout.write(`| ${set} | ${groups.length} | ${name} | ${shown} |\n`);
    }
  }
}

await main(argv.slice(2));
