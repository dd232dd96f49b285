/** The time that an upload or an analysis still takes. */
import test from 'ava';
import { createTimeLeft } from '../../web/playground/time-left.ts';

test('the rest takes as long as the speed so far says, from two seconds on', (t) => {
  let now = 5000;
  const timeLeft = createTimeLeft(() => now);
  const after = (ms: number, done: number) => {
    now += ms;
    return timeLeft(done);
  };
  t.is(after(0, 0.1), null);
  t.is(after(1000, 0.2), null, 'too early');
  t.is(after(3000, 0.3), 14);
  t.is(after(6000, 0.6), 8);
  t.is(after(10_000, 1), 0);
});

test('without progress there is no estimate', (t) => {
  let now = 0;
  const timeLeft = createTimeLeft(() => now);
  timeLeft(0.5);
  now = 60_000;
  t.is(timeLeft(0.5), null);
});
