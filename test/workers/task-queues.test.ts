import test from 'ava';
import fc from 'fast-check';
import { createTaskQueues, type TaskKind } from '../../src/service/workers/scheduler.ts';

type Task = { readonly account: string; readonly kind: TaskKind; readonly name: string };

/** @param name kind and account of the task, as in `step:a` */
function taskOf(name: string): Task {
  const [kind, account] = name.split(':') as [TaskKind, string];
  return { account, kind, name };
}

function queuesOf(names: readonly string[]) {
  const queues = createTaskQueues<Task>(100);
  for (const name of names) queues.add(taskOf(name));
  return queues;
}

const free = { paused: new Set<Task>(), isFull: false, hasMaxJobs: false };

/** One after another on one worker: each lasts 1 ms. */
function orderOf(names: readonly string[]): string[] {
  const queues = queuesOf(names);
  return names.map(() => {
    const task = queues.next(free);
    if (task === null) return 'none';
    queues.charge(task, 1);
    return task.name;
  });
}

test('steps precede uploads and reports, and accounts take turns', (t) => {
  t.deepEqual(orderOf(['upload:c', 'report:d', 'step:a', 'step:a', 'step:b']), [
    'step:a',
    'step:b',
    'step:a',
    'upload:c',
    'report:d',
  ]);
});

test('an endless flow of steps leaves every fifth turn to uploads and reports', (t) => {
  const steps = Array.from({ length: 20 }, () => 'step:a');
  const order = orderOf([...steps, 'upload:b', 'upload:b', 'report:b']);
  t.deepEqual([order[4], order[9], order[14]], ['report:b', 'upload:b', 'upload:b']);
});

test('a removed task does not run', (t) => {
  const queues = queuesOf(['report:a', 'upload:b']);
  const [upload, report] = queues.all() as [Task, Task];
  t.true(queues.remove(report));
  t.is(queues.next(free), upload);
  t.deepEqual([queues.next(free), queues.stats().queued], [null, 0]);
});

test('the account with the least time of workers is next, and saves none up while it has no task', (t) => {
  const queues = queuesOf(['upload:a', 'upload:a', 'upload:a']);
  const first = queues.next(free) as Task;
  queues.charge(first, 10_000);
  queues.add(taskOf('upload:b'));
  queues.add(taskOf('upload:b'));
  queues.charge(first, 1);
  const own = queues.next(free) as Task;
  t.is(own.name, 'upload:b');
  queues.charge(own, 2);
  t.is(queues.next(free)?.name, 'upload:a');
});

test('an account that leaves and returns keeps its time', (t) => {
  const queues = queuesOf(['upload:a', 'upload:b']);
  const quick = queues.next(free) as Task;
  queues.charge(quick, 5);
  queues.end(quick);
  queues.add(taskOf('upload:a'));
  t.is(queues.next(free)?.name, 'upload:b');
});

test('a step or a waiting task of another account contests the turn of a task, its own account does not', (t) => {
  const queues = queuesOf(['upload:a', 'upload:a']);
  const running = queues.next(free) as Task;
  t.is(queues.sliceOf(running, { ...free, paused: new Set([taskOf('upload:a')]) }), null);
  t.is(queues.sliceOf(running, { ...free, paused: new Set([taskOf('upload:b')]), isFull: true }), 50);
  queues.add(taskOf('job:c'));
  t.is(queues.sliceOf(running, free), null);
  queues.add(taskOf('report:b'));
  t.is(queues.sliceOf(running, free), 50);
  t.is(queues.sliceOf(running, { ...free, isFull: true }), null);
  const step = taskOf('step:a');
  queues.add(step);
  t.is(queues.sliceOf(running, { ...free, isFull: true }), 50);
  t.is(queues.sliceOf(step, free), null);
});

test('a job runs while nothing else waits, and pauses at once for everything else', (t) => {
  t.deepEqual(orderOf(['job:a', 'job:a', 'job:b', 'upload:c', 'report:e', 'step:d']), [
    'step:d',
    'upload:c',
    'report:e',
    'job:a',
    'job:b',
    'job:a',
  ]);
  const queues = queuesOf(['job:a', 'job:a']);
  const running = queues.next(free) as Task;
  t.is(queues.sliceOf(running, free), null);
  t.is(queues.sliceOf(running, { ...free, paused: new Set([taskOf('job:b')]) }), 50);
  t.is(queues.sliceOf(running, { ...free, paused: new Set([taskOf('upload:a')]) }), 0);
  queues.add(taskOf('step:a'));
  t.is(queues.sliceOf(running, free), 0);
});

test('a worker that holds its jobs starts no other, and none that is full of requests refuses a job', (t) => {
  const queues = queuesOf(['job:a', 'upload:b']);
  t.is(queues.next({ ...free, isFull: true, hasMaxJobs: true }), null);
  t.is(queues.next({ ...free, isFull: true })?.name, 'job:a');
  t.is(queues.next({ ...free, hasMaxJobs: true })?.name, 'upload:b');
});

test('accounts that always have tasks get the same time, whatever their tasks last and however many they are', (t) => {
  const account = fc.record({ units: fc.integer({ min: 1, max: 40 }), ms: fc.integer({ min: 1, max: 100 }) });
  fc.assert(
    fc.property(fc.array(account, { minLength: 2, maxLength: 5 }), (accounts) => {
      const queues = createTaskQueues<Task>(100);
      const names = accounts.map((_, index) => String.fromCharCode(97 + index));
      const used = new Map(names.map((name) => [name, 0]));
      const left = new Map<Task, number>();
      const paused = new Set<Task>();
      const submit = (name: string) => {
        const task = taskOf(`upload:${name}`);
        left.set(task, accounts[names.indexOf(name)]?.units as number);
        queues.add(task);
      };
      for (const name of names) submit(name);
      for (let unit = 0; unit < 500; unit++) {
        const task = queues.next({ ...free, paused }) as Task;
        const { ms } = accounts[names.indexOf(task.account)] as { ms: number };
        queues.charge(task, ms);
        used.set(task.account, (used.get(task.account) as number) + ms);
        const units = (left.get(task) as number) - 1;
        left.set(task, units);
        if (units > 0) paused.add(task);
        else {
          paused.delete(task);
          // Before it leaves: the account is always busy.
          submit(task.account);
          queues.end(task);
        }
        const times = [...used.values()];
        if (Math.max(...times) - Math.min(...times) > 100) return false;
      }
      return true;
    }),
  );
  t.pass();
});
