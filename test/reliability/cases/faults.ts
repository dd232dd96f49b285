/** A full disk, where analyses go on and writes are refused until there is space; a second service on one folder; and a clock that is wrong or set. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../benchmarks/case.ts';
import { makeToken } from '../../support/server.ts';
import { exactly, negativeControl, none, type Options, type Row } from '../case.ts';
import { accountStatus } from '../support/account.ts';
import { setWhileRunning, wrongAtStart } from '../support/clock.ts';
import { requireRoot } from '../support/program.ts';
import { ask } from '../support/requests.ts';
import { buildService, isUp, preload, withServer } from '../support/service.ts';

const settings = { UNDERTONE_LOG_LEVEL: 'silent', UNDERTONE_WORKERS: '1', UNDERTONE_SIGNUP: 'open' };
/** The log of the worker says which jobs are done. */
const clockSettings = { ...settings, UNDERTONE_LOG_LEVEL: 'info', UNDERTONE_RECEIPTS: 'always' };
const diskMebibytes = 8;
const known = 'old@home.example';

/** Behind and ahead by more than any result is kept. */
const offsets = ['-2h', '+48h'];
/** Length of the recording of a job that runs while the clock is set, s: over 15 s of analysis in the long form. */
const jobSeconds = { short: 600, long: 3600 };

export async function run({ long }: Options): Promise<readonly Row[]> {
  requireRoot('faults');
  buildService();
  const control = await fullDisk(preload('exit-on-503'));
  const rows = [...(await fullDisk()), negativeControl('a service that exits on a 503', control)];
  rows.push(...(await sharedFolder()));
  rows.push(negativeControl('a folder of its own', await sharedFolder(false)));
  for (const offset of offsets) {
    rows.push(...(await wrongAtStart(offset, settings)));
    rows.push(...(await setWhileRunning(offset, clockSettings, long ? jobSeconds.long : jobSeconds.short)));
  }
  const exits = { ...clockSettings, ...preload('exit-on-step') };
  const stepped = await setWhileRunning('-2h', exits, 1).catch((error: Error) => [
    none('requests without an answer', [error.message], 1),
  ]);
  return [...rows, negativeControl('a service that exits when its clock is set', stepped)];
}

async function fullDisk(env: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-disk-'));
  runProgram('mount', ['-t', 'tmpfs', '-o', `size=${diskMebibytes}m`, 'tmpfs', folder]);
  try {
    return await withServer({ ...settings, UNDERTONE_DATA_DIR: folder, ...env }, async (server) => {
      await accountStatus(server, 'sign-up', known);
      const token = makeToken({ dataDir: folder }, 'analyze:emotion,analyze:cognitive');
      const filler = join(folder, 'filler');
      fill(filler);
      const analyses = [
        (await ask({ ...server, token }, 'of-an-account')).status,
        (await ask(server, 'static')).status,
      ];
      const refused = [
        await accountStatus(server, 'sign-up', 'new@home.example'),
        await accountStatus(server, 'log-in', known),
      ];
      rmSync(filler);
      const after = [
        await accountStatus(server, 'sign-up', 'after@home.example'),
        await accountStatus(server, 'log-in', known),
      ];
      return [
        others(200, 'analyses not answered 200', analyses),
        others(503, 'sign-up and log-in not answered 503', refused),
        others(200, 'the same not answered 200 once there is space', after),
        exactly(0, 'the service ended', 'times', isUp(server) ? 0 : 1),
      ];
    });
  } finally {
    runProgram('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  }
}

/** Of a service that does not end by itself. */
const refusalMs = 20_000;

/** Two services, as in two containers: neither sees the process of the other one. @param isShared false for the control: the second has another folder */
async function sharedFolder(isShared = true): Promise<Row[]> {
  return withServer(settings, async (server) => {
    const { dataDir } = server;
    const command = [
      '--pid',
      '--fork',
      '--kill-child',
      '--mount-proc',
      process.execPath,
      'dist/src/cli.js',
      'serve',
    ];
    const { PATH } = process.env;
    const second = spawnSync('unshare', command, {
      env: {
        PATH,
        ...settings,
        UNDERTONE_PORT: '0',
        UNDERTONE_DATA_DIR: isShared ? dataDir : join(dataDir, 'other'),
      },
      timeout: refusalMs,
      killSignal: 'SIGKILL',
      encoding: 'utf8',
    });
    const isRefused =
      second.status !== 0 && second.status !== null && /in use by process \d+ on /.test(second.stderr);
    const answers = [(await ask(server, 'two-services')).status];
    await server.stop('SIGKILL');
    const next = await withServer({ ...settings, UNDERTONE_DATA_DIR: dataDir }, async (started) =>
      isUp(started),
    );
    return [
      exactly(
        1,
        'second service on a folder refused',
        'times',
        isRefused ? 1 : 0,
        second.stderr.trim().split('\n').at(-1),
      ),
      others(200, 'analyses of the first not answered 200', answers),
      exactly(1, 'service started after a kill -9 of the first', 'times', next ? 1 : 0),
    ];
  });
}

function others(status: number, name: string, statuses: readonly number[]): Row {
  return none(name, statuses.filter((one) => one !== status).map(String), statuses.length);
}

/** To the last byte. */
function fill(path: string): void {
  for (let bytes = 2 ** 20; bytes >= 1; bytes = Math.floor(bytes / 2)) {
    try {
      for (;;) writeFileSync(path, Buffer.alloc(bytes), { flag: 'a' });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
    }
  }
}
