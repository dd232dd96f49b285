/** The threads of `undertone worker`: lost ones are replaced, also where the new one cannot start at once. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { createJobThreads, type JobThreads } from '../../src/service/jobs/job-threads.ts';
import { makeFolder } from '../support/folder.ts';
import { until } from '../support/wait.ts';

const file = fileURLToPath(new URL('../support/job-thread.ts', import.meta.url));
const limits = { seconds: 1, channels: 1, minSampleRate: 1, maxSampleRate: 1, deadlineSeconds: 1 };

async function open(t: ExecutionContext) {
  const models = join(makeFolder(), 'models');
  writeFileSync(models, '');
  const lost: Error[] = [];
  const onLost = (cause: Error) => lost.push(cause);
  const crew = await createJobThreads({ threads: 1, settings: { modelsDir: models, limits }, file, onLost });
  t.teardown(crew.close);
  return { crew, models, lost };
}

function work(crew: JobThreads, id: string) {
  const cancel = new Int32Array(new SharedArrayBuffer(4));
  return crew.analyze(
    {
      id,
      queue: 'analyses',
      audio: new Uint8Array(1),
      baselines: [],
      signing: null,
      ...defaultOptions,
      cancel,
    },
    () => {},
  );
}

test('a thread whose successor cannot load is replaced once it can', async (t) => {
  const { crew, models, lost } = await open(t);
  t.like(await work(crew, 'any'), { kind: 'report' });
  rmSync(models);
  await t.throwsAsync(work(crew, 'exit'));
  let settled = false;
  const settle = () => {
    settled = true;
  };
  void work(crew, 'any').then(settle, settle);
  await until(() => lost.length >= 3);
  writeFileSync(models, '');
  // Nothing but this wait keeps the process alive until the new thread is there.
  await until(() => settled);
  t.like(await work(crew, 'any'), { kind: 'report' });
});
