/** The same speech in other containers, rates, levels, channels and with silence around it gives the same scores. */
import { join } from 'node:path';
import test from 'ava';
import { spokenRecordings } from '../reliability/corpus/recordings.ts';
import { analyzeFiles, distancesOf } from '../reliability/corpus/sameness.ts';
import { groups, makeFamilies } from '../reliability/corpus/transformations.ts';

const bound = 0.05;
const recordings = (await spokenRecordings()).filter((file) => /(sample|f3|m4)\.wav$/.test(file));
const families = await makeFamilies(
  recordings,
  join(import.meta.dirname, '../.cache/reliability/synthetic-speech'),
);
const scores = await analyzeFiles(
  families.flatMap(({ plain, narrow, copies }) => [plain, narrow, ...copies.map(({ file }) => file)]),
  () => {},
);

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

test('another recording is further away', (t) => {
  const [first, second] = families as [(typeof families)[0], (typeof families)[0]];
  const swapped = distancesOf([{ ...first, copies: second.copies }], scores);
  t.true(swapped.every(({ by }) => by > bound));
});
