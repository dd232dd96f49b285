/** Scored recordings -> everything that the reports of an evaluation show, and its figures for a terminal. */

import { correctionOf, type Manifest, unavailableOf } from '../../engine/schema.ts';
import { version } from '../../node/paths.ts';
import { compareSets } from './compare-sets.ts';
import { type Comparison, comparisonText } from './comparison.ts';
import { answerOf, confusion, type Figure, labelsOf, measure, type Scored } from './figures.ts';
import type { Answer } from './statistics.ts';

export type Evaluation = {
  /** UTC */
  readonly at: string;
  readonly undertone: string;
  readonly models: readonly {
    readonly name: string;
    readonly version: string;
    readonly sha256: string;
    /** Null for models that are not adapted. */
    readonly correction_sha256: string | null;
  }[];
  /** What limits the conclusions, for people. */
  readonly notes: readonly string[];
  readonly figures: readonly Figure[];
  /** By label, then by dominant emotion. */
  readonly confusion: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Two sets on the same recordings; the other figures are of the second set. Null without `--compare`. */
  readonly comparison: {
    readonly sets: readonly [string, string];
    readonly figures: readonly Comparison[];
  } | null;
  /** Of the recordings with a known label. */
  readonly answers: readonly Answer[];
};

type Circumstances = {
  readonly at: Date;
  readonly failed: number;
  readonly sha256: string;
  readonly other?: Other | null;
};

/** The set of `--compare`. */
type Other = {
  readonly scored: readonly Scored[];
  readonly failed: number;
  readonly manifests: readonly Manifest[];
  /** Of this set and of the one that is evaluated. */
  readonly names: readonly [string, string];
};

export const nothingInCommon =
  'The two sets have fewer than two labels, and no dimension, of the file in common.';

/** With fewer, the bootstrap says little about other speakers. */
const enoughSpeakers = 5;

export function evaluate(
  scored: readonly Scored[],
  manifests: readonly Manifest[],
  { at, failed, sha256, other = null }: Circumstances,
): Evaluation {
  const labels = labelsOf(scored);
  const answers = scored.flatMap((one) =>
    one.scores.emotion !== null && labels.includes(one.recording.label ?? '')
      ? [answerOf(one, one.scores.emotion)]
      : [],
  );
  const matrix = [...confusion(scored, labels)].map(([label, row]) => [label, Object.fromEntries(row)]);
  return {
    at: at.toISOString(),
    undertone: version,
    models: manifests.map((manifest) => ({
      name: manifest.name,
      version: manifest.version,
      sha256: manifest.weights.sha256,
      correction_sha256: correctionOf(manifest)?.sha256 ?? null,
    })),
    notes: [
      ...learnedFrom('The models', manifests, sha256),
      ...notesOf(scored, labels, failed),
      ...unavailable(manifests),
      ...(other === null ? [] : notesOfOther(other, sha256)),
    ],
    figures: measure(scored, manifests),
    confusion: Object.fromEntries(matrix),
    comparison: other && { sets: other.names, figures: compareSets(other.scored, scored) },
    answers,
  };
}

/** @param sha256 of the file of labels */
function learnedFrom(models: string, manifests: readonly Manifest[], sha256: string): string[] {
  const isSame = manifests.some((manifest) => correctionOf(manifest)?.labelsSha256 === sha256);
  return isSame ? [`${models} were adapted to these recordings: their figures do not hold for others.`] : [];
}

function notesOfOther({ names: [name], manifests, failed }: Other, sha256: string): string[] {
  return [
    ...learnedFrom(`The models ${name}`, manifests, sha256),
    ...(failed > 0 ? [`Recordings that the models ${name} could not analyse: ${failed}.`] : []),
  ];
}

function unavailable(manifests: readonly Manifest[]): string[] {
  return manifests.flatMap((manifest) => {
    const reason = unavailableOf(manifest);
    return reason === null ? [] : [`The models have no ${manifest.kind} signal: ${reason}`];
  });
}

function notesOf(scored: readonly Scored[], labels: readonly string[], failed: number): string[] {
  const speakers = new Set(scored.flatMap(({ recording }) => recording.speaker ?? []));
  const unknown = [...new Set(scored.flatMap(({ recording }) => recording.label ?? []))].filter(
    (label) => !labels.includes(label),
  );
  const unnamed = scored.some(({ recording }) => recording.speaker === null);
  return [
    ...(failed > 0 ? [`Recordings left out, since they could not be analysed: ${failed}.`] : []),
    ...(unnamed
      ? [
          'Some recordings have no speaker: each counts as a speaker of its own, and the intervals are too narrow if they are not.',
        ]
      : []),
    ...(!unnamed && speakers.size < enoughSpeakers
      ? [
          `${speakers.size} speakers are too few to conclude anything about others: ${enoughSpeakers} are the least, 20 or more are better.`,
        ]
      : []),
    ...(unknown.length > 0
      ? [`The models have no label ${unknown.join(', ')}: these recordings do not count for emotions.`]
      : []),
  ];
}

export function evaluationText({ figures, notes, comparison }: Evaluation): string {
  const all = figures.filter(({ group }) => group === 'all');
  const width = Math.max(0, ...all.map(({ figure }) => figure.length));
  const lines = all.map(({ figure, value, interval, speakers, card, doubt }) => {
    const range = interval === null ? '' : `${interval[0].toFixed(2)} to ${interval[1].toFixed(2)}`;
    const compared = card === null ? '' : `card ${card.value.toFixed(3)} (${card.group})`;
    const cells = [
      figure.padEnd(width),
      value.toFixed(3).padStart(6),
      range.padEnd(13),
      `${speakers} speakers`.padEnd(13),
    ];
    return [...cells, compared, doubt ?? ''].join('  ').trimEnd();
  });
  const compared = comparison === null ? '' : setsText(comparison);
  return [...lines, ...notes].map((line) => `${line}\n`).join('') + compared;
}

function setsText({ sets, figures }: NonNullable<Evaluation['comparison']>): string {
  if (figures.length === 0) return `${nothingInCommon}\n`;
  return `\n${comparisonText(figures, [...sets, 'better'])}`;
}
