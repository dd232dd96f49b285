/** A queue that accounts share, checked over random sequences of arrivals, departures and cancellations. */
import test from 'ava';
import fc from 'fast-check';
import { createFairQueue } from '../../src/service/fair-share.ts';

type Task = { readonly account: string; readonly number: number };

const numRuns = 500;
const accounts = ['a', 'b', 'c', 'd', 'e'];
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ add: fc.constantFrom(...accounts) }) },
  { weight: 3, arbitrary: fc.constant({ next: true } as const) },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat(20) }) },
);
const runs = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.array(act, { maxLength: 80 }));
type Run = typeof runs extends fc.Arbitrary<infer Value> ? Value : never;
type Queue = ReturnType<typeof createFairQueue<Task>>;

const tasksOf = (queue: Queue, account: string) => queue.all().filter((task) => task.account === account);

/** Adds as the pool does. @returns the task that gave way */
function add(queue: Queue, task: Task): Task | null {
  const victim = queue.victim();
  if (victim !== null) queue.remove(victim.account, victim);
  queue.add(task.account, task);
  return victim;
}

type Watch = {
  arrives?(queue: Queue, task: Task, accepted: boolean): void;
  gaveWay?(queue: Queue, victim: Task, task: Task): void;
  leaves?(queue: Queue, task: Task): void;
  after?(queue: Queue): void;
};

function play([places, acts]: Run, watch: Watch): void {
  const queue = createFairQueue<Task>(places);
  for (const [number, one] of acts.entries()) {
    if ('add' in one) {
      const task = { account: one.add, number };
      const accepted = queue.accepts(task.account);
      watch.arrives?.(queue, task, accepted);
      const victim = accepted ? add(queue, task) : null;
      if (victim !== null) watch.gaveWay?.(queue, victim, task);
    } else if ('next' in one) {
      const task = queue.next();
      if (task !== null) watch.leaves?.(queue, task);
    } else {
      const task = queue.all()[one.cancel];
      if (task !== undefined) queue.remove(task.account, task);
    }
    watch.after?.(queue);
  }
}

test('no more wait than there are places, and a single account may take them all', (t) => {
  const property = fc.property(runs, (run) =>
    play(run, { after: (queue) => t.true(queue.size() <= run[0]) }),
  );
  fc.assert(property, { numRuns });
  const queue = createFairQueue<Task>(5);
  for (let number = 0; number < 5; number++) {
    t.true(queue.accepts('a'));
    t.is(add(queue, { account: 'a', number }), null);
  }
  t.false(queue.accepts('a'));
  t.false(queue.refusesAll());
});

test('an account is refused only when every place is taken and it is at its share', (t) => {
  const arrives: Watch['arrives'] = (queue, { account }, accepted) => {
    const waiting = new Set([...queue.all().map((task) => task.account), account]).size;
    t.is(accepted, queue.size() < places || tasksOf(queue, account).length + 1 <= places / waiting);
  };
  let places = 0;
  const property = fc.property(runs, (run) => {
    places = run[0];
    play(run, { arrives });
  });
  fc.assert(property, { numRuns });
});

test('only the newest task of an account over its share gives way', (t) => {
  const property = fc.property(runs, ([places, acts]) =>
    play([places, acts], {
      gaveWay: (queue, victim, task) => {
        const rest = tasksOf(queue, victim.account);
        t.not(victim.account, task.account);
        t.true(rest.every(({ number }) => number < victim.number));
        const waiting = new Set(queue.all().map(({ account }) => account)).size;
        t.true(rest.length + 1 > places / waiting);
      },
    }),
  );
  fc.assert(property, { numRuns });
});

test('all are refused exactly when every account is, a new one too', (t) => {
  const after = (queue: Queue) => {
    const refused = [...accounts, 'newcomer'].every((account) => !queue.accepts(account));
    t.is(queue.refusesAll(), refused);
  };
  const property = fc.property(runs, (run) => play(run, { after }));
  fc.assert(property, { numRuns });
});

test('tasks of an account leave in their order, and accounts take turns', (t) => {
  const property = fc.property(runs, (run) => {
    /** For each waiting account, which others left since it last did or began to wait. */
    const since = new Map<string, string[]>();
    play(run, {
      leaves: (queue, task) => {
        t.true(tasksOf(queue, task.account).every(({ number }) => number > task.number));
        since.delete(task.account);
        for (const left of since.values()) {
          t.false(left.includes(task.account));
          left.push(task.account);
        }
      },
      after: (queue) => {
        const waiting = new Set(queue.all().map(({ account }) => account));
        for (const account of since.keys()) if (!waiting.has(account)) since.delete(account);
        for (const account of waiting) if (!since.has(account)) since.set(account, []);
      },
    });
  });
  fc.assert(property, { numRuns });
});
