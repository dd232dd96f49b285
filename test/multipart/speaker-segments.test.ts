import test from 'ava';
import { ServiceError } from '../../src/service/errors.ts';
import { parseSegments } from '../../src/service/form.ts';

const segment = (start: number, end: number, speaker: string) => ({ start, end, speaker });

test('JSON and RTTM with the same segments are equal, in order of their starts', (t) => {
  const rttm = [
    ';; a comment',
    'SPKR-INFO call 1 <NA> <NA> <NA> unknown A <NA> <NA>',
    'SPEAKER call 1 2.5 1.5 <NA> <NA> B <NA> <NA>',
    '',
    'SPEAKER call 1 0 2.25 <NA> <NA> A',
  ];
  const want = [segment(0, 2.25, 'A'), segment(2.5, 4, 'B')];
  t.deepEqual(parseSegments(rttm.join('\r\n')), want);
  t.deepEqual(parseSegments(` ${JSON.stringify([...want].reverse())}\n`), want);
  t.deepEqual(parseSegments('[{"start":0,"end":1,"speaker":"A","text":"yes"}]'), [segment(0, 1, 'A')]);
});

const many = (count: number, speakers: number) =>
  JSON.stringify(
    Array.from({ length: count }, (_, index) => segment(index, index + 1, `${index % speakers}`)),
  );

const refused: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  'no segment': ['[]', /^Expected 1 to 1000 segments, in `segments`, got 0$/],
  'an empty part': ['', /^Expected 1 to 1000 segments, in `segments`, got 0$/],
  'too many segments': [many(1001, 2), /^Expected 1 to 1000 segments, in `segments`, got 1001$/],
  'too many speakers': [many(42, 21), /^Expected at most 20 speakers, in `segments`, got 21$/],
  'broken JSON': ['[{]', /got broken JSON$/],
  'JSON that is no array': ['{"segments": []}', /got other JSON$/],
  'no object': ['[1]', /^Expected an object with start, end and speaker, in `segments\[0\]`, got/],
  'a negative start': [
    JSON.stringify([segment(0, 1, 'A'), segment(-1, 1, 'A')]),
    /^Expected 0 or more for start, in `segments\[1\]`, got/,
  ],
  'an end at the start': [JSON.stringify([segment(1, 1, 'A')]), /^Expected an end after the start, in/],
  'a time as text': ['[{"start":"0","end":1,"speaker":"A"}]', /^Expected seconds for start, in/],
  'no name': [JSON.stringify([segment(0, 1, '')]), /^Expected 1 to 64 characters for speaker, in/],
  'another RTTM type': ['SPEAKER c 1 0 1 x x A\nLEXEME c 1 0 1 x x A', /line 2 of `segments`, got/],
  'an RTTM time that is no number': ['SPEAKER c 1 zero 1 x x A', /in line 1 of `segments`, got/],
};

for (const [name, [text, message]] of Object.entries(refused)) {
  test(`${name} is refused`, (t) => {
    const error = t.throws(() => parseSegments(text), { instanceOf: ServiceError, message });
    t.like(error?.problems[0], { field: 'segments', reason: 'segments' });
  });
}

test('the limits are inclusive', (t) => {
  t.is(parseSegments(many(1000, 20)).length, 1000);
});
