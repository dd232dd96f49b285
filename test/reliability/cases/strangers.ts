/** Effects of one account on others: costly bodies, uploads that send little, long recordings, a full queue and dead callbacks. */
import { negativeControl, type Options, type Row } from '../case.ts';
import { costlyBodies, delayRows, smallJson } from '../strangers/bodies.ts';
import { type Goals, longRecordingRows } from '../strangers/long-recordings.ts';
import { type Load, queueRows } from '../strangers/queue.ts';
import { attackRows, idle, stalled } from '../strangers/uploads.ts';
import { preload } from '../support/preload.ts';
import { buildService, withJobs } from '../support/service.ts';

type Size = { readonly slowerSeconds: number; readonly long: Goals; readonly load: Load };

const sizes: Readonly<Record<'long' | 'short', Size>> = {
  long: {
    slowerSeconds: 2,
    long: { recordingSeconds: 0.5, measurementSeconds: 0.3, uploads: 10 },
    load: { lists: 9, deadCallbacks: 100, timed: 10, waitSeconds: 120, seconds: 2, times: 0 },
  },
  // Beside whatever else a machine does.
  short: {
    slowerSeconds: 10,
    long: { recordingSeconds: 5, measurementSeconds: 5, uploads: 3 },
    load: { lists: 2, deadCallbacks: 100, timed: 3, waitSeconds: 30, seconds: 10, times: 4 },
  },
};
const open = { UNDERTONE_SIGNUP: 'open', UNDERTONE_LOG_LEVEL: 'error' };

export async function run({ long }: Options): Promise<readonly Row[]> {
  buildService();
  const { slowerSeconds, load, ...size } = sizes[long ? 'long' : 'short'];
  const sameOwner = { ...load, timed: 1, waitSeconds: 20 };
  return [
    ...(await bodyRows(long)),
    ...(await uploadRows(slowerSeconds)),
    ...(await longRecordingRows(open, size.long)),
    negativeControl(
      'long recordings of its own',
      await longRecordingRows(open, { ...size.long, uploads: 1 }, true),
    ),
    ...(await queueRows(load)),
    negativeControl('one owner instead of two', await queueRows(sameOwner, true)),
  ];
}

async function bodyRows(long: boolean): Promise<Row[]> {
  const prefix = {
    UNDERTONE_JOB_URL_PREFIXES: 'http://127.0.0.1/',
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  const rows = await withJobs({ ...open, ...prefix, UNDERTONE_JOB_QUEUE: '100000' }, ({ server }) =>
    delayRows(server, costlyBodies, long),
  );
  const control = await withJobs(preload('slow-fields'), ({ server }) =>
    delayRows(server, [smallJson], long),
  );
  return [...rows, negativeControl('work on the main thread for each field', control)];
}

async function uploadRows(slowerSeconds: number): Promise<Row[]> {
  const rows = await withJobs(open, async ({ server }) => [
    ...(await attackRows(server, idle, slowerSeconds)),
    ...(await attackRows(server, stalled, slowerSeconds)),
  ]);
  const control = await withJobs({ ...open, ...preload('early-slots') }, ({ server }) =>
    attackRows(server, idle, slowerSeconds),
  );
  return [...rows, negativeControl('slots reserved before a byte arrives', control)];
}
