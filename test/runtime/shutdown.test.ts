/** Signals that end a process: the first in order, the second at once, the third without waiting. */
import test, { type ExecutionContext } from 'ava';
import pino from 'pino';
import { handleSignals } from '../../src/runtime/shutdown.ts';

type Signal = 'SIGTERM' | 'SIGINT';

/** The listener that stopOnSignals adds, on a clock of the test's own, and what it did. */
function open(t: ExecutionContext) {
  const before = process.listeners('SIGTERM');
  const now = performance.now;
  let clock = 0;
  performance.now = () => clock;
  const done: string[] = [];
  const note = (what: string) => async () => {
    done.push(what);
    await new Promise(() => {});
  };
  handleSignals({
    logger: pino({ level: 'silent' }),
    stop: note('stop'),
    abort: note('break off'),
    exit: (code) => done.push(`exit ${code}`),
  });
  const listener = process.listeners('SIGTERM').find((one) => !before.includes(one)) as (s: Signal) => void;
  t.teardown(() => {
    performance.now = now;
    for (const signal of ['SIGTERM', 'SIGINT']) process.off(signal, listener);
  });
  return (signal: Signal, ms: number) => {
    clock += ms;
    listener(signal);
    return done.join(', ');
  };
}

test.serial('a signal that comes twice in a moment, as through npm, is one', (t) => {
  const send = open(t);
  t.is(send('SIGINT', 0), 'stop');
  t.is(send('SIGINT', 499), 'stop');
});

test.serial('the second signal breaks off, the third exits', (t) => {
  const send = open(t);
  t.is(send('SIGTERM', 0), 'stop');
  t.is(send('SIGTERM', 500), 'stop, break off');
  t.is(send('SIGTERM', 0), 'stop, break off, exit 1');
});

test.serial('another signal is no echo of the first', (t) => {
  const send = open(t);
  send('SIGINT', 0);
  t.is(send('SIGTERM', 0), 'stop, break off');
});
