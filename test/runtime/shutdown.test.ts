/** Signals: the first shuts down gracefully, the second aborts, the third exits. */
import test, { type ExecutionContext } from 'ava';
import pino from 'pino';
import { handleSignals } from '../../src/service/lifecycle.ts';

type Signal = 'SIGTERM' | 'SIGINT';

/** Calls the listener of handleSignals with a fake clock. @returns a function that sends a signal and lists the calls so far */
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
    parent: null,
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

test.serial('a signal repeated within 500 ms, as by npm, counts once', (t) => {
  const send = open(t);
  t.is(send('SIGINT', 0), 'stop');
  t.is(send('SIGINT', 499), 'stop');
});

test.serial('the second signal aborts, the third exits', (t) => {
  const send = open(t);
  t.is(send('SIGTERM', 0), 'stop');
  t.is(send('SIGTERM', 500), 'stop, break off');
  t.is(send('SIGTERM', 0), 'stop, break off, exit 1');
});

test.serial('a different signal is no repeat of the first', (t) => {
  const send = open(t);
  send('SIGINT', 0);
  t.is(send('SIGTERM', 0), 'stop, break off');
});
