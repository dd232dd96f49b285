/** Two sets of models on the same recordings: labels that both know, dimensions that both have. */
import { type Comparison, compare, type Pair } from './comparison.ts';
import { best, dimensions, labelsOf, numbersOf, type Scored } from './figures.ts';
import { ccc, pcc, type Score, uar } from './statistics.ts';

/** Of the interval of a difference. */
const level = 0.95;

type Paired<Value> = { readonly speaker: string; readonly pair: Pair<Value> };

/** Skips recordings that either set could not analyse. @param before, after of a file of labels */
export function compareSets(before: readonly Scored[], after: readonly Scored[]): Comparison[] {
  const others = new Map(after.map((one) => [one.recording, one]));
  const both = before.flatMap((one) => {
    const other = others.get(one.recording);
    return other === undefined ? [] : [[one, other] as const];
  });
  const known = labelsOf(after);
  const labels = labelsOf(before).filter((label) => known.includes(label));
  /** Of recordings for which both have a value. */
  const pairsOf = <Value>(value: (one: Scored) => Value | null): Paired<Value>[] =>
    both.flatMap(([one, other]) => {
      const [first, second] = [value(one), value(other)];
      const speaker = one.recording.speaker ?? one.recording.path;
      return first === null || second === null ? [] : [{ speaker, pair: [first, second] as const }];
    });
  const add = <Value>(figure: string, score: Score<Value>, paired: readonly Paired<Value>[]) => {
    if (paired.length === 0) return [];
    const pairs = paired.map(({ pair }) => pair);
    const speakers = paired.map(({ speaker }) => speaker);
    const found = compare(figure, score, { pairs, speakers }, { better: 'higher', level });
    return Number.isFinite(found.before.value) && Number.isFinite(found.after.value) ? [found] : [];
  };
  const uars = () =>
    add(
      `UAR of ${labels.join(', ')}`,
      uar,
      pairsOf(({ recording: { label }, scores: { emotion } }) =>
        emotion === null || label === null || !labels.includes(label)
          ? null
          : { truth: label, predicted: best(emotion.probabilities, labels) },
      ),
    );
  return [
    ...(labels.length < 2 ? [] : uars()),
    ...dimensions.flatMap((name) =>
      add(
        name === 'clarity' ? 'PCC of clarity' : `CCC of ${name}`,
        name === 'clarity' ? pcc : ccc,
        pairsOf((one) => numbersOf(one, name)?.pair ?? null),
      ),
    ),
  ];
}
