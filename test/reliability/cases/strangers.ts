/** Effects of one account, or of a client without one, on other accounts. */
import { negativeControl, type Options, type Row } from '../case.ts';
import { addressRows, hostRows, placeholderRow, signUpRow } from '../strangers/access.ts';
import { costlyBodies, delayRows, smallJson } from '../strangers/bodies.ts';
import { type Load, queueRows } from '../strangers/queue.ts';
import {
  bulkRow,
  environmentRow,
  keyRow,
  keySettings,
  scopesRow,
  sessionRows,
  useCounters,
} from '../strangers/secrets.ts';
import { attackRows, dripRow, idle, stalled } from '../strangers/uploads.ts';
import { verdictRow } from '../strangers/verdicts.ts';
import { preload } from '../support/preload.ts';
import { buildService, withJobs, withListener, withServer } from '../support/service.ts';

type Size = { readonly forms: number; readonly slowerSeconds: number; readonly load: Load };

const sizes: Readonly<Record<'long' | 'short', Size>> = {
  long: {
    forms: 3000,
    slowerSeconds: 2,
    load: { lists: 9, deadCallbacks: 100, hours: 2, timed: 10, waitSeconds: 120, seconds: 2, times: 0 },
  },
  // Beside whatever else a machine does.
  short: {
    forms: 300,
    slowerSeconds: 10,
    load: { lists: 2, deadCallbacks: 100, hours: 0, timed: 3, waitSeconds: 30, seconds: 10, times: 4 },
  },
};
const open = { UNDERTONE_SIGNUP: 'open', UNDERTONE_LOG_LEVEL: 'error' };

export async function run({ long, seed, count }: Options): Promise<readonly Row[]> {
  buildService();
  const { forms, slowerSeconds, load } = sizes[long ? 'long' : 'short'];
  return [
    ...(await bodyRows(long, seed, count ?? forms)),
    ...(await uploadRows(slowerSeconds)),
    ...(await queueRows(load)),
    negativeControl(
      'one owner instead of two',
      await queueRows({ ...load, hours: 0, timed: 1, waitSeconds: 20 }, true),
    ),
    ...(await accessRows()),
    ...(await secretRows()),
  ];
}

async function bodyRows(long: boolean, seed: number, forms: number): Promise<Row[]> {
  const prefix = {
    UNDERTONE_JOB_URL_PREFIXES: 'http://127.0.0.1/',
    UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1',
  };
  const rows = await withJobs({ ...open, ...prefix, UNDERTONE_JOB_QUEUE: '100000' }, async ({ server }) => [
    ...(await delayRows(server, costlyBodies, long)),
    await verdictRow(server, seed, forms),
  ]);
  const control = await withJobs(preload('slow-fields'), ({ server }) =>
    delayRows(server, [smallJson], long),
  );
  return [...rows, negativeControl('work on the main thread for each field', control)];
}

async function uploadRows(slowerSeconds: number): Promise<Row[]> {
  const rows = await withJobs(open, async ({ server }) => [
    ...(await attackRows(server, idle, slowerSeconds)),
    ...(await attackRows(server, stalled, slowerSeconds)),
    await dripRow(server),
  ]);
  const control = await withJobs({ ...open, ...preload('early-slots') }, ({ server }) =>
    attackRows(server, idle, slowerSeconds),
  );
  return [...rows, negativeControl('slots reserved before a byte arrives', control)];
}

async function accessRows(): Promise<Row[]> {
  const prefix = 'http://127.0.0.1/recordings/';
  const fetching = { UNDERTONE_JOB_URL_PREFIXES: prefix, UNDERTONE_JOB_PRIVATE_HOSTS: '127.0.0.1' };
  const [hosts, addresses] = await withJobs({ ...open, ...fetching }, async ({ server }) => [
    await hostRows(server.port),
    await addressRows(server, prefix),
  ]);
  const unchecked = await withListener(
    (request, response) => {
      request.resume();
      response.end('{}');
    },
    async (port) => [await hostRows(port), await addressRows({ port, token: '' }, prefix)],
  );
  return [
    ...(hosts ?? []),
    negativeControl('no check of Host', unchecked[0] ?? []),
    await signUpRow(),
    negativeControl('open sign-up', [await signUpRow({ UNDERTONE_SIGNUP: 'open' })]),
    await placeholderRow(),
    ...(addresses ?? []),
    negativeControl('no check of URLs', unchecked[1] ?? []),
  ];
}

async function secretRows(): Promise<Row[]> {
  const keys = await withJobs(keySettings, async (place) => {
    await useCounters(place);
    const row = await keyRow(place);
    await place.redis.client.set('undertone:address:203.0.113.77', '1');
    return [row, negativeControl('a key with an address', [await keyRow(place)])];
  });
  const others = await withServer(open, async (server) => [
    ...(await sessionRows(server, { logIns: 20, sessions: 20 })),
    await scopesRow(server),
    await bulkRow(server),
  ]);
  return [...keys, ...others, await environmentRow()];
}
