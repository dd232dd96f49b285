/**
 * The labels of an utterance, given how its speaker sounds. The mean log probabilities of utterances of the speaker, each weighted by
 * how probably it is neutral, are moved to those of neutral speech of others (docs/results/studies.md, mean of the speaker).
 */
import { z } from 'zod';
import { sum } from '../arrays.ts';
import { minProbability } from '../correction.ts';

export const speakerLabelParams = z.strictObject({
  /** Log probability of each label in neutral speech. */
  prior: z.record(z.string(), z.number()),
  /** So many utterances of the speaker count as much as the prior. */
  priorUtterances: z.number().positive(),
});
type SpeakerLabelParams = z.infer<typeof speakerLabelParams>;

const logOf = (probability: number) => Math.log(Math.max(minProbability, probability));

type Utterance = { readonly probabilities: readonly number[] };

/** Labels in the order of `probabilities`; `isPlain` of each: speech without emotion. */
export type Labels = {
  readonly labels: readonly string[];
  readonly isPlain: readonly boolean[];
  /** Null: not fitted. */
  readonly params: SpeakerLabelParams | null;
};

/** @param utterances of the speaker, the one itself included @returns probabilities; null where the prior is not that of the labels */
export function relativeProbabilities(
  { probabilities }: Utterance,
  utterances: readonly Utterance[],
  { labels, isPlain, params }: Labels,
): number[] | null {
  if (params === null || labels.some((label) => params.prior[label] === undefined)) return null;
  const { prior, priorUtterances } = params;
  const usual = labels.map((label) => prior[label] as number);
  const moved = labels.map(() => 0);
  let total = priorUtterances;
  for (const { probabilities: one } of utterances) {
    const plain = one.reduce((all, value, label) => (isPlain[label] ? all + value : all), 0);
    total += plain;
    for (const [label, value] of one.entries())
      moved[label] = (moved[label] as number) + plain * (logOf(value) - (usual[label] as number));
  }
  const odds = probabilities.map((value, label) => Math.exp(logOf(value) - (moved[label] as number) / total));
  const all = sum(odds, (one) => one);
  return odds.map((one) => one / all);
}
