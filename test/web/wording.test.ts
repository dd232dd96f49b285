/** Numbers and times as the playground writes them. */
import test from 'ava';
import { length, quantity, score, signed, tick } from '../../web/playground/wording.ts';

test('no number is a negative zero', (t) => {
  t.deepEqual([score(-0.001), score(-0.006)], ['0.00', '-0.01']);
  t.deepEqual(
    [signed(-0.004), signed(0.004), signed(-0.005), signed(0.12)],
    ['0.00', '0.00', '−0.01', '+0.12'],
  );
  t.is(quantity(-0.001, 'dB/octave'), '0.00 dB per octave');
});

test('times are minutes and seconds, with tenths where they differ', (t) => {
  t.deepEqual([tick(0.5), tick(59.96), tick(839)], ['0:00.5', '1:00', '13:59']);
  t.deepEqual([length(9.54), length(59.96), length(839.2)], ['9.5 s', '1:00', '13:59']);
});
