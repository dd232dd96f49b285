/**
 * Draws recordings of some speakers, adapts to them, and scores the other speakers.
 * node --import tsx training/studies/adaptation.ts LABELS MODELS SCORES SPEAKERS: prints a JSON object of means over the draws.
 */
import { availableParallelism } from 'node:os';
import { argv, env, exit, stderr, stdin, stdout } from 'node:process';
import { type Adaptation, adapt, isImprovement } from '../../src/tools/adapt/adapt.ts';
import type { Example } from '../../src/tools/adapt/comparison.ts';
import { readLabels, scoreLabels } from '../../src/tools/evaluate/labels.ts';
import {
  type Answer,
  calibrationError,
  createRandom,
  estimate,
  meanOf,
  type Score,
  uar,
} from '../../src/tools/evaluate/statistics.ts';
import { correctLabels, type Probabilities } from '../../src/engine/correction.ts';
import { readManifests } from '../../src/node/models.ts';
import { parseConfig } from '../../src/service/config.ts';

const draws = 20;
type Random = () => number;

async function main([labels, modelsDir, scores, speakers]: readonly string[]): Promise<void> {
  if (labels === undefined || modelsDir === undefined || scores === undefined || speakers === undefined)
    throw new Error('Expected LABELS MODELS SCORES SPEAKERS for `arguments`');
  const manifests = await readManifests(modelsDir);
  const { limits, jobs } = parseConfig({});
  const terminal = { env, stdin, stdout, stderr, stdoutClosed: () => false, fail: () => {}, exit };
  const { recordings } = await readLabels(labels, terminal);
  const { scored } = await scoreLabels(recordings, scores, manifests, {
    jobs: availableParallelism(),
    settings: { modelsDir, limits, maxBytes: jobs.maxBytes },
    terminal,
    embeddings: true,
  });
  const examples = scored.flatMap(({ recording, scores: own, embedding }): Example[] =>
    embedding === null || own.emotion === null
      ? []
      : [{ recording, scores: own, embedding: Float32Array.from(embedding) }],
  );
  const known = manifests.find(({ kind }) => kind === 'emotion')?.labels ?? [];
  stdout.write(JSON.stringify(measure(examples, known, Number(speakers))));
}

function measure(examples: readonly Example[], known: readonly string[], speakersDrawn: number) {
  const random = createRandom(7);
  const names = [...new Set(examples.map(({ recording }) => recording.speaker))];
  const rounds = Array.from({ length: draws }, () => {
    const drawn = new Set(shuffle(names, random).slice(0, speakersDrawn));
    const own = shuffle(
      examples.filter(({ recording }) => drawn.has(recording.speaker)),
      random,
    );
    const others = examples.filter(({ recording }) => !drawn.has(recording.speaker));
    const many = own.slice(0, 200);
    const labels = shuffle(
      many.map(({ recording }) => recording.label),
      random,
    );
    const shuffled = many.map((one, index) => ({
      ...one,
      recording: { ...one.recording, label: labels[index] ?? null },
    }));
    const adapted = adapt(many, known);
    const [before, after] = scoreOthers(others, adapted, uar, answerOf);
    const few = adapt(own.slice(0, 50), known);
    const calibration = scoreOthers(others, few, calibrationError, confidenceOf);
    // Of answers that are right as often as they say: what the number of recordings alone causes.
    const chance = scoreOthers(others, few, calibrationError, (_, probabilities) => {
      const [, confidence] = best(probabilities);
      return { correct: random() < confidence, confidence };
    });
    return {
      before,
      after,
      calibration: [...calibration, chance[1]],
      accepted: Number(adapted.labels?.adaptation != null),
      shuffled: Number(isImprovement(adapt(shuffled, known))),
    };
  });
  const gains = rounds.map(({ before, after }) => after - before).sort((one, other) => one - other);
  return {
    speakers: names.length,
    before_200: meanOf(rounds.map(({ before }) => before)),
    after_200: meanOf(rounds.map(({ after }) => after)),
    gain_200: [gains[Math.round(0.1 * (draws - 1))], gains[Math.round(0.9 * (draws - 1))]],
    calibration_50: [0, 1, 2].map((part) => meanOf(rounds.map(({ calibration }) => calibration[part] as number))),
    accepted_200: meanOf(rounds.map(({ accepted }) => accepted)),
    worse_200: meanOf(gains.map((gain) => Number(gain < 0))),
    shuffled: meanOf(rounds.map(({ shuffled }) => shuffled)),
  };
}

function scoreOthers<Value>(
  others: readonly Example[],
  { labels }: Adaptation,
  score: Score<Value>,
  valueOf: (truth: string, probabilities: Probabilities) => Value,
): [before: number, after: number] {
  const rows = others.flatMap(({ recording, scores, embedding }) => {
    const before = scores.emotion?.probabilities as Probabilities;
    const after = labels?.adaptation ? correctLabels(labels.adaptation, before, embedding) : before;
    return [[before, after].map((probabilities) => valueOf(recording.label as string, probabilities))];
  });
  const scoreOf = (part: 0 | 1) =>
    estimate(
      score,
      rows.map((row) => row[part] as Value),
      others.map(({ recording }) => recording.path),
    ).value;
  return [scoreOf(0), scoreOf(1)];
}

function best(probabilities: Probabilities): [label: string, probability: number] {
  return Object.entries(probabilities).sort(([, one], [, other]) => other - one)[0] as [string, number];
}

function answerOf(truth: string, probabilities: Probabilities) {
  return { truth, predicted: best(probabilities)[0] };
}

function confidenceOf(truth: string, probabilities: Probabilities): Answer {
  const [label, confidence] = best(probabilities);
  return { correct: label === truth, confidence };
}

function shuffle<Item>(items: readonly Item[], random: Random): Item[] {
  return items
    .map((item) => [random(), item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}

await main(argv.slice(2));
