/** The same speech in other containers, rates, levels, channels and with silence around it gives the same scores. */
import test from 'ava';
import { cacheFolder } from '../../benchmarks/case.ts';
import { spokenRecordings } from '../reliability/corpus/recordings.ts';
import { analyzeFiles, distancesOf, type Scores } from '../reliability/corpus/score-distance.ts';
import { type Family, groups, makeFamilies } from '../reliability/corpus/transformations.ts';

const bound = 0.05;
let families: readonly Family[] = [];
let scores: ReadonlyMap<string, Scores> = new Map();

test.before('makes the copies and analyses them', async () => {
  const recordings = (await spokenRecordings()).filter((file) => /(sample|f3)\.wav$/.test(file));
  families = await makeFamilies(recordings, cacheFolder('reliability/synthetic-speech'));
  const files = families.flatMap(({ plain, narrow, copies }) => [
    plain,
    narrow,
    ...copies.map(({ file }) => file),
  ]);
  scores = await analyzeFiles(files, () => {});
});

for (const group of groups) {
  test(`every score within ${bound} of the plain recording's: ${group}`, (t) => {
    const found = distancesOf(families, scores).filter(
      ({ transformation }) => transformation.group === group,
    );
    t.true(found.length >= families.length);
    for (const { transformation, plain, score, by } of found) {
      t.true(by <= bound, `${transformation.name} moves ${score} of ${plain} by ${by.toFixed(3)}`);
    }
  });
}

test('negative control: another recording is further away', (t) => {
  const [first, second] = families as [Family, Family];
  const swapped = distancesOf([{ ...first, copies: second.copies }], scores);
  t.true(swapped.every(({ by }) => by > bound));
});
