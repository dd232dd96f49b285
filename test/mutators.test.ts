/** The small faults that `npx tsx test/mutations.ts` makes. */
import test from 'ava';
import { describe, mutantsOf, nativeMutantsOf } from './support/mutators.ts';

const source = `type Bit = 0 | true;
function add(list: Bit[], limit: number) {
  if (list.length <= limit) list.push(true);
  return limit + 2;
}`;

test('a TypeScript file has mutants of its code, not of its types', (t) => {
  t.deepEqual(mutantsOf('a.ts', source).map(describe), [
    'a.ts:2: { if (list.length <= limit) list.push(true); return limit... -> { return; if (list.length <= limit) list.push(true); retu...',
    'a.ts:3: list.length <= limit -> !(list.length <= limit)',
    'a.ts:3: list.length <= limit -> list.length < limit',
    'a.ts:3: list.push(true); -> ;',
    'a.ts:3: true -> false',
    'a.ts:4: limit + 2 -> limit - 2',
    'a.ts:4: 2 -> (2 + 1)',
  ]);
});

test('a mutant is the whole file, and knows its function', (t) => {
  const [, negated] = mutantsOf('a.ts', source);
  t.is(negated?.text, source.replace('list.length <= limit', '!(list.length <= limit)'));
  t.is(negated?.functionLine, 2);
});

test('text is not added', (t) => t.deepEqual(mutantsOf('a.ts', "f('a' + b)"), []));

test('a C++ file has mutants of its code, not of its comments and texts', (t) => {
  const native = '// 1 < 2\n#include <array>\nreturn a < b + 3 && name == "4 < 5";\n';
  t.deepEqual(nativeMutantsOf('a.cc', native).map(describe), [
    'a.cc:3: < -> <=',
    'a.cc:3: == -> !=',
    'a.cc:3: + -> -',
    'a.cc:3: && -> ||',
    'a.cc:3: 3 -> (3 + 1)',
  ]);
});
