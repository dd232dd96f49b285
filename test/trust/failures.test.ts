/** What the texts about the recordings of known failures say, on the shipped models. */
import test from 'ava';
import { modelSets } from '../../src/node/paths.ts';
import { readFailureScores, readFailures } from '../../src/service/trust.ts';

type Scores = { readonly dominant_emotion: string; readonly clarity: number };

const sets = await Promise.all(
  modelSets.map(async (name) => [name, (await readFailureScores(`models/${name}`)) ?? {}] as const),
);

for (const [name, answers] of sets) {
  const of = (file: string, signal: string) => {
    const { signals, warnings } = answers[file]?.[signal] ?? { signals: {}, warnings: [] };
    return { ...(signals as Scores), warnings };
  };

  test(`${name}: every recording has an answer`, async (t) => {
    const files = (await readFailures()).map(({ file }) => file);
    t.deepEqual(Object.keys(answers), files);
  });

  test(`${name}: synthetic speech, and two voices, have scores without a warning`, (t) => {
    for (const file of ['synthetic.flac', 'two-at-once.flac', 'two-in-turn.flac'])
      t.deepEqual(of(file, 'emotion').warnings, [], file);
  });

  test(`${name}: sad words in a calm voice are not sad`, (t) => {
    t.not(of('words.flac', 'emotion').dominant_emotion, 'sad');
  });

  test(`${name}: hurried speech is scored as no less clear`, (t) => {
    const [hurried, unhurried] = ['hurried.flac', 'synthetic.flac'].map(
      (file) => of(file, 'cognitive').clarity,
    );
    t.true((hurried ?? 0) > (unhurried ?? 1) - 0.02);
  });
}
