/** Numbers and times as the playground writes them. */
import test from 'ava';
import { tickStep } from '../../web/playground/axis.ts';
import { length, quantity, score, signed, tick } from '../../web/playground/format.ts';
import { percentile } from '../../web/playground/rules.ts';

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

test('ticks of a time axis do not repeat', (t) => {
  for (const duration of [0.6, 1.4, 3, 9.5, 59, 61, 600, 900]) {
    const step = tickStep(duration, 10);
    const labels = Array.from({ length: Math.floor(duration / step) + 1 }, (_, index) => tick(index * step));
    t.true(labels.length <= 11, `${duration} s: ${labels.length} ticks`);
    t.is(new Set(labels).size, labels.length, labels.join());
  }
});

test('half of the reference recordings are below the median, and a quarter below the quartile', (t) => {
  const entry = { median: 0.25, spread: 0.7, unit: 'ratio', source: '' };
  t.is(percentile(0.25, { ...entry, scale: 'odds' }), 0.5);
  t.is(percentile(0.25, { ...entry, scale: 'difference' }), 0.5);
  // A quartile of the logistic distribution is ln(3) spreads from its median.
  const quartile = 0.25 * Math.exp(-0.7 * Math.log(3));
  t.true(Math.abs(percentile(quartile, { ...entry, scale: 'inverse' }) - 0.25) < 1e-12);
});
