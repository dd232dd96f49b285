/** Tasks of workers: queues, cores, and what a task is answered with. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { boundary, multipart, type PartSpec, toneFile, wavFile } from '../../benchmarks/upload-body.ts';
import type { Analyses, Analyzer } from '../../src/engine/analyze.ts';
import { channelsReportSchema } from '../../src/engine/compose-report.ts';
import { embeddingReportSchema } from '../../src/engine/embedding-report.ts';
import type { LiveState } from '../../src/engine/live.ts';
import { combinedReportSchema, reportSchemas } from '../../src/engine/report.ts';
import type { Signal } from '../../src/engine/signals/table.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { areCoresIdle, threadsPerTask } from '../../src/service/workers/cores.ts';
import { handleTask } from '../../src/service/workers/handle-task.ts';
import { deserializeState, serializeState } from '../../src/service/workers/live-state.ts';
import { createTaskQueues, type TaskKind } from '../../src/service/workers/scheduler.ts';
import { limits } from '../support/analysis.ts';
import { words } from '../support/words.ts';

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
  t.deepEqual(
    orderOf(['upload:c', 'report:d', 'step:a', 'step:a', 'step:b']),
    words`
    step:a step:b step:a upload:c report:d
  `,
  );
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
  t.deepEqual(
    orderOf(['job:a', 'job:a', 'job:b', 'upload:c', 'report:e', 'step:d']),
    words`
    step:d upload:c report:e job:a job:b job:a
  `,
  );
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

// Which report a task is answered with.

/** Analyses for both signals, whatever the task requests. */
async function open(): Promise<Analyzer> {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const signals = ['emotion', 'cognitive'] as const;
  const analyze = (request: Parameters<Analyzer['analyze']>[0]): Promise<Analyses> =>
    analyzer.analyze({ ...request, signals });
  return { ...analyzer, analyze };
}

async function replyTo(analyzer: Analyzer, signals: readonly string[], parts: readonly PartSpec[] = []) {
  const body = [new Uint8Array(multipart([{ name: 'audio', bytes: toneFile(1) }, ...parts]))];
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  const receipt = { keyId: 'key', purpose: null, always: false };
  const task = { body, boundary, signals: signals as Signal[], requestId: 'id-1', receipt, cancel };
  return handleTask(analyzer, task);
}

function reportOf(t: ExecutionContext, reply: Awaited<ReturnType<typeof replyTo>>): unknown {
  return reply.kind === 'report' ? JSON.parse(Buffer.from(reply.json).toString()) : t.fail(reply.kind);
}

test('each signal is answered with its own report, and no other name with any', async (t) => {
  const analyzer = await open();
  for (const [signals, schema] of [
    [['emotion'], reportSchemas.emotion],
    [['cognitive'], reportSchemas.cognitive],
    [['emotion', 'cognitive'], combinedReportSchema],
  ] as const) {
    const report = reportOf(t, await replyTo(analyzer, signals));
    t.deepEqual(schema.parse(report), report as never, signals.join());
  }
  t.is((await replyTo(analyzer, ['posture'])).kind, 'internalError');
});

test('unknown parts and query parameters are listed in every report, at most ten', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/standard', limits });
  const many = Array.from({ length: 9 }, (_, index) => ({ name: `x-${index}`, bytes: '' }));
  const chanel = { name: 'chanel', bytes: '0' };
  const audio = { name: 'audio', bytes: wavFile(new Float32Array(32_000), 16_000, 2) };
  const split = { name: 'channels', bytes: 'split' };
  const parameter = { name: 'rate', msg: 'Unknown query parameter' };
  const named = { name: 'chanel', msg: 'Unknown part: did you mean `channel`?' };
  for (const [task, parts, schema] of [
    [{ signals: ['emotion'] }, [chanel], reportSchemas.emotion],
    [{ signals: ['emotion', 'cognitive'] }, [chanel], combinedReportSchema],
    [{ signals: ['emotion', 'cognitive'] }, [chanel, split], channelsReportSchema],
    [{ signals: [], embeddings: true }, [chanel], embeddingReportSchema],
  ] as const) {
    const body = [new Uint8Array(multipart([audio, ...parts]))];
    const cancel = new Int32Array(new SharedArrayBuffer(4));
    const receipt = { keyId: 'key', purpose: null, always: false };
    const shared = { boundary, requestId: 'id-1', receipt, cancel, ignored: [parameter] };
    const report = reportOf(t, await handleTask(analyzer, { ...task, ...shared, body })) as object;
    t.notThrows(() => schema.parse(report));
    t.like(report, { ignored: [named, parameter] });
  }
  const { ignored } = reportOf(t, await replyTo(analyzer, ['emotion'], [chanel, ...many, ...many])) as {
    ignored: object[];
  };
  t.is(ignored.length, 10);
  t.false('ignored' in (reportOf(t, await replyTo(analyzer, ['emotion'])) as object));
});

test('parts of several speakers are refused on other paths', async (t) => {
  const analyzer = await open();
  for (const [name, bytes] of [
    ['channels', 'split'],
    ['segments', '[{"start":0,"end":1,"speaker":"A"}]'],
    ['speakers', '2'],
  ] as const) {
    const message = `Expected POST /v1/analyze or /v1/jobs for \`${name}\`, got another path`;
    const problem = { where: 'body', field: name, reason: name, message };
    t.like(await replyTo(analyzer, ['emotion'], [{ name, bytes }]), {
      kind: 'failure',
      failure: { code: 'invalid', problems: [problem] },
    });
  }
});

const state = {
  bytes: Uint8Array.of(1, 2, 3).subarray(1),
  read: Number.NEGATIVE_INFINITY,
  channels: [{ rows: [Float32Array.of(1, 2), Float64Array.of(3)], none: null, name: 'a' }],
} as unknown as LiveState;

test('a state is shared in one piece, and unserialized into memory of its own', (t) => {
  const serialized = serializeState(state, null);
  t.true(serialized.buffer instanceof SharedArrayBuffer);
  const own = deserializeState(serialized);
  t.deepEqual(own, state);
  t.true(own.bytes.buffer instanceof ArrayBuffer);
  serialized.fill(0);
  t.deepEqual(own, state, 'a copy');
});

test('the memory of an earlier state is used again unless the state has outgrown it', (t) => {
  const spare = serializeState(state, null).buffer;
  const again = serializeState({ ...state, read: 1 }, spare);
  t.is(again.buffer, spare);
  t.deepEqual(deserializeState(again), { ...state, read: 1 });
  const large = { ...state, bytes: new Uint8Array(spare.byteLength) };
  const grown = serializeState(large, spare);
  t.not(grown.buffer, spare);
  t.deepEqual(deserializeState(grown), large);
  const huge = serializeState({ ...state, bytes: new Uint8Array(8 * spare.byteLength) }, null).buffer;
  t.is(serializeState(state, huge).buffer.byteLength, spare.byteLength, 'memory is given back');
});

test('a task uses idle cores, at most four, and one core each when all are busy', (t) => {
  t.deepEqual(
    [1, 2, 4, 64].map((cores) => threadsPerTask(cores)),
    [1, 2, 4, 4],
  );
  const allowed = (cores: number) => [1, 2, 3, 16, 17].filter((running) => areCoresIdle(running, cores));
  t.deepEqual(allowed(1), [1]);
  t.deepEqual(allowed(2), [1]);
  t.deepEqual(allowed(8), [1, 2]);
  t.deepEqual(allowed(64), [1, 2, 3, 16]);
});
