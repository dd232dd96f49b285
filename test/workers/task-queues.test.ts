import test from 'ava';
import { createTaskQueues, type TaskKind } from '../../src/workers/pool.ts';

type Task = { readonly account: string; readonly kind: TaskKind; readonly name: string };

/** @param names kind and account of each task, as in `step:a` */
function queuesOf(names: readonly string[]) {
  const queues = createTaskQueues<Task>(100);
  for (const name of names) {
    const [kind, account] = name.split(':') as [TaskKind, string];
    queues.add({ account, kind, name });
  }
  return queues;
}

function orderOf(names: readonly string[]): string[] {
  const queues = queuesOf(names);
  return names.map(() => queues.next(true)?.name ?? 'none');
}

test('steps precede uploads and reports, and accounts take turns', (t) => {
  t.deepEqual(orderOf(['upload:c', 'report:c', 'step:a', 'step:a', 'step:b']), [
    'step:a',
    'step:b',
    'step:a',
    'report:c',
    'upload:c',
  ]);
});

test('an endless flow of steps leaves every fifth task to uploads and reports in turn', (t) => {
  const steps = Array.from({ length: 20 }, () => 'step:a');
  const order = orderOf([...steps, 'upload:b', 'upload:b', 'report:b']);
  t.deepEqual([order[4], order[9], order[14]], ['report:b', 'upload:b', 'upload:b']);
});

test('a report waits while none may run, and a removed task does not run', (t) => {
  const queues = queuesOf(['report:a', 'upload:b']);
  t.is(queues.next(false)?.name, 'upload:b');
  t.is(queues.next(false), null);
  const [report] = queues.all();
  t.true(report !== undefined && queues.remove(report));
  t.deepEqual([queues.next(true), queues.stats().queued], [null, 0]);
});
