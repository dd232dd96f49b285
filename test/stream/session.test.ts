/** A session with a worker that the test holds. */

import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { ServiceError } from '../../src/service/errors.ts';
import { createFairBudget } from '../../src/service/fair-share.ts';
import { createRecording } from '../../src/service/live/recording.ts';
import { LiveSession } from '../../src/service/live/session.ts';
import { createTaskRunner, type TaskRunner } from '../../src/service/live/tasks.ts';
import type { SerializedState } from '../../src/service/workers/live-state.ts';
import { createPool, type Pool } from '../../src/service/workers/pool.ts';
import type { SerializedStep } from '../../src/service/workers/protocol.ts';
import { builtFile } from '../support/built-file.ts';
import { makeFolder } from '../support/folder.ts';
import type { ThreadTask } from '../support/thread.ts';
import { until } from '../support/wait.ts';

const config = { type: 'session.configure', encoding: 'mulaw', sample_rate_hz: 8000, channels: 1 } as const;
const bytesPerSecond = 8000;
const state: SerializedState = new Uint8Array(new SharedArrayBuffer(1));

type Options = {
  readonly maxSeconds?: number;
  readonly idleMs?: number;
  readonly fault?: unknown;
  /** Whether the account may keep the session without audio. */
  readonly mayKeep?: boolean;
};

/** Steps wait until the test opens the gate. */
function openSession({ maxSeconds = 3600, idleMs = 3_600_000, fault, mayKeep = true }: Options = {}) {
  const sent: Record<string, unknown>[] = [];
  const log: string[] = [];
  const steps: SerializedStep[] = [];
  const errors: unknown[] = [];
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const tasks: TaskRunner = {
    step: async (step) => {
      await gate;
      if (fault !== undefined) throw fault;
      steps.push(step);
      return { state, messages: [] };
    },
    report: async ({ body, seconds }) => `{"seconds":${seconds},"bytes":${Buffer.concat(body).length}}`,
    cancel: () => log.push('cancel'),
  };
  const memory = createFairBudget(2 ** 30);
  const session = new LiveSession({
    connection: {
      send: (text) => sent.push(JSON.parse(text)),
      close: (code) => log.push(`close ${code}`),
      pause: () => log.push('pause'),
      resume: () => log.push('resume'),
    },
    tasks,
    requestId: 'r',
    scopes: ['analyze:emotion', 'analyze:cognitive'],
    memory: memory.open(['a']),
    limits: { maxSeconds, idleMs, configureMs: idleMs },
    models: [],
    metrics: { message: () => {}, audio: () => {}, step: () => {}, closed: () => {} },
    keep: (isKept) => {
      log.push(isKept ? 'keep' : 'not kept');
      return isKept && mayKeep;
    },
    onClosed: () => log.push('closed'),
    onError: (cause) => errors.push(cause),
  });
  session.onText(JSON.stringify(config));
  const types = () => sent.map(({ type }) => type);
  return { session, sent, types, log, steps, errors, memory, open: () => open() };
}

const audio = (seconds: number) => new Uint8Array(seconds * bytesPerSecond);

test('the socket is not read while more than 5 s are unprocessed, and nothing is dropped', async (t) => {
  const { session, log, steps, sent, open } = openSession();
  session.onAudio(audio(5));
  t.deepEqual(log, []);
  session.onAudio(audio(1));
  session.onAudio(audio(1));
  t.deepEqual(log, ['pause']);
  open();
  await until(() => steps.length === 28);
  t.deepEqual(log, ['pause', 'resume']);
  session.onText('{"type":"session.end"}');
  await until(() => log.includes('close 1000'));
  t.deepEqual(sent.at(-2)?.report, { seconds: 7, bytes: 7 * bytesPerSecond });
});

for (const [about, idleMs, end, code] of [
  ['a session without audio for a while', 50, () => {}, 4408],
  ['a session whose token has expired', 3_600_000, (session: LiveSession) => session.expire(), 1008],
] as const) {
  test(`${about} ends with the open utterance and the report: ${code}`, async (t) => {
    const { session, log, open, steps, types, sent } = openSession({ idleMs });
    open();
    session.onAudio(audio(1));
    end(session);
    await until(() => log.includes(`close ${code}`));
    t.is(steps.at(-1)?.cause, 'session.end');
    t.deepEqual(types(), ['session.ready', 'final', 'session.ended']);
    t.deepEqual(sent.at(-2)?.report, { seconds: 1, bytes: bytesPerSecond });
  });
}

test('a session that is not read is not idle', async (t) => {
  const { session, log, open, types } = openSession({ idleMs: 20 });
  session.onAudio(audio(6));
  await new Promise((resolve) => setTimeout(resolve, 100));
  t.deepEqual(log, ['pause']);
  open();
  await until(() => log.includes('close 4408'));
  t.is(types().at(-1), 'session.ended');
});

test('steps are at multiples of 0.25 s, each with the bytes since the one before', async (t) => {
  const { session, steps, open } = openSession();
  open();
  for (let count = 0; count < 13 * 10; count++) session.onAudio(audio(0.1));
  await until(() => steps.length === 52);
  t.deepEqual(
    steps.map(({ bytes }) => bytes.length),
    Array.from({ length: 52 }, () => bytesPerSecond / 4),
  );
  t.deepEqual(
    steps.flatMap(({ measure }, index) => (measure ? [(index + 1) / 4] : [])),
    [3, 6, 9, 12],
  );
});

test('a client that goes away leaves nothing', async (t) => {
  const { session, log, memory, sent, open } = openSession();
  session.onAudio(audio(2));
  t.is(memory.used(), 2 * bytesPerSecond);
  session.onClosed();
  t.is(memory.used(), 0);
  t.deepEqual(log, ['cancel', 'closed']);
  open();
  session.onAudio(audio(1));
  session.onText('{"type":"session.end"}');
  session.drain();
  session.abort();
  await new Promise((resolve) => setImmediate(resolve));
  t.is(sent.length, 1);
  t.is(memory.used(), 0);
});

test('audio beyond the limit is not analysed, whatever the frames are', async (t) => {
  for (const frames of [[2.5], [1.9, 0.3], [2, 0.1]]) {
    const { session, sent, log, open } = openSession({ maxSeconds: 2 });
    open();
    for (const seconds of frames) session.onAudio(audio(seconds));
    session.onAudio(audio(1));
    await until(() => log.includes('close 4413'));
    t.is((sent.at(-2)?.report as { seconds: number } | undefined)?.seconds, 2);
    t.is(sent.at(-1)?.audio_s, 2);
  }
});

test('a full session of exactly the limit ends when the client ends it', async (t) => {
  const { session, log, open } = openSession({ maxSeconds: 2 });
  open();
  session.onAudio(audio(2));
  session.onText('{"type":"session.end"}');
  await until(() => log.includes('close 1000'));
  t.pass();
});

test('an error of a step ends the session with its code', async (t) => {
  const faults = [
    [new ServiceError('deadline', 'late'), 'close 1013', 0],
    [new ServiceError('shutting_down', 'stop'), 'close 1001', 0],
    [new ServiceError('worker_lost', 'lost'), 'close 1011', 0],
    [new Error('a secret cause'), 'close 1011', 1],
  ] as const;
  for (const [fault, close, logged] of faults) {
    const { session, log, sent, errors, open } = openSession({ fault });
    open();
    session.onAudio(audio(1));
    await until(() => log.includes(close));
    t.is(errors.length, logged);
    t.false(JSON.stringify(sent).includes('secret'));
  }
});

test('an abort ends the session without its report', (t) => {
  const { session, log, types } = openSession();
  session.onAudio(audio(1));
  session.abort();
  t.deepEqual(log, ['cancel', 'closed', 'close 1001']);
  t.deepEqual(types(), ['session.ready', 'session.ended']);
});

test('keep_alive has no effect once the account keeps enough sessions', async (t) => {
  for (const mayKeep of [true, false]) {
    const { session, log } = openSession({ idleMs: 200, mayKeep });
    const timer = setInterval(() => session.onText('{"type":"keep_alive"}'), 60);
    t.teardown(() => clearInterval(timer));
    if (mayKeep) await until(() => log.filter((each) => each === 'keep').length > 6);
    else await until(() => log.includes('close 4408'));
    session.onAudio(audio(1));
    t.is(log.includes('not kept'), mayKeep);
    t.is(log.includes('close 4408'), !mayKeep);
    session.abort();
  }
});

test('a session that ends without a whole sample has no report', async (t) => {
  const { session, sent, log } = openSession();
  session.onText('{"type":"session.end"}');
  await until(() => log.includes('close 4422'));
  t.like(sent.at(-2), {
    status: 422,
    detail: [
      {
        loc: ['body', 'audio'],
        type: 'value_error.audio.empty',
        msg: 'Expected samples for `audio`, got none',
      },
    ],
  });
});

// Tasks of a session on threads that obey (see thread.ts).

/** The bytes of the step are the task. */
const stepOf = (task: ThreadTask): SerializedStep => ({
  format: { encoding: 's16le', sampleRate: 16_000, channels: 1 },
  bytes: Uint8Array.from(Buffer.from(JSON.stringify(task))),
  state: null,
  spare: null,
  signals: ['emotion'],
  split: false,
  speakers: null,
  measure: false,
  cause: null,
});

async function open(t: ExecutionContext): Promise<{ readonly pool: Pool; readonly tasks: TaskRunner }> {
  const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };
  const file = builtFile('thread');
  const pool = createPool({ workers: 1, queue: 1, settings: { modelsDir: '', limits }, file });
  t.teardown(() => pool.close());
  await pool.started;
  return { pool, tasks: createTaskRunner(pool, 'a', 3_600_000) };
}

test('a step whose worker dies is retried once, on another worker', async (t) => {
  const { pool, tasks } = await open(t);
  const task: ThreadTask = { do: 'exitOnce', file: join(makeFolder(), 'died') };
  t.truthy(await tasks.step(stepOf(task)));
  t.is(pool.stats().lost, 1);
  await t.throwsAsync(tasks.step(stepOf({ do: 'exit' })), { code: 'worker_lost' });
  t.is(pool.stats().lost, 3);
});

// The samples of a session.

const format = { encoding: 's16le', channels: 2 } as const;
/** More than two blocks of 256 KiB. */
const wav = wavFile(
  Float32Array.from({ length: 300_000 }, (_, index) => Math.sin(index)),
  16_000,
  2,
);
const samples = wav.subarray(44);

function recordingOf(pieces: readonly number[]) {
  const recording = createRecording(format);
  let from = 0;
  for (const length of pieces) {
    recording.append(samples.subarray(from, from + length));
    from += length;
  }
  return recording;
}

test('an incomplete sample does not count', (t) => {
  const recording = recordingOf([3, 3, 1]);
  t.is(recording.frames(), 1);
  t.deepEqual(Buffer.concat(recording.take()), samples.subarray(0, 4));
});

test('a part has the bytes of its frames, across blocks', (t) => {
  const recording = recordingOf([1, 262_142, 2, samples.length - 262_145]);
  const part = Buffer.from(recording.slice(65_000, 140_000));
  t.deepEqual(part, samples.subarray(4 * 65_000, 4 * 140_000));
});

test('all samples are taken once', (t) => {
  const recording = recordingOf([samples.length]);
  t.deepEqual(Buffer.concat(recording.take()), samples);
  t.is(recording.frames(), 0);
});
