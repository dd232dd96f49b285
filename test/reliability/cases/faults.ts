/** A full disk: analyses succeed, writes are refused with 503, and both work again once there is space. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProgram } from '../../../benchmarks/case.ts';
import { makeToken } from '../../support/server.ts';
import { exactly, negativeControl, none, type Row } from '../case.ts';
import { accountStatus } from '../support/account.ts';
import { requireRoot } from '../support/program.ts';
import { ask } from '../support/requests.ts';
import { buildService, isUp, preload, withServer } from '../support/service.ts';

const settings = { UNDERTONE_LOG_LEVEL: 'silent', UNDERTONE_WORKERS: '1', UNDERTONE_SIGNUP: 'open' };
const diskMebibytes = 8;
const known = 'old@home.example';

export async function run(): Promise<readonly Row[]> {
  requireRoot('faults');
  buildService();
  const control = await fullDisk(preload('exit-on-503'));
  return [...(await fullDisk()), negativeControl('a service that exits on a 503', control)];
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
