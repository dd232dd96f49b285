/** A full disk, and a database that another process locks. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Libsql from 'libsql';
import { runProgram } from '../../../benchmarks/case.ts';
import { atMost, exactly, type Row } from '../case.ts';
import { startHealthProbe } from '../support/health-probe.ts';
import { isUp, type Server, withServer } from '../support/service.ts';
import { analyzeAs, createToken, post } from './account.ts';

const quiet = { UNDERTONE_LOG_LEVEL: 'silent', UNDERTONE_WORKERS: '1', UNDERTONE_SIGNUP: 'open' };
const diskMebibytes = 8;

type Seen = { readonly analyses: number[]; readonly refused: number[]; readonly after: number[] };

/** Analyses and writes during the fault, and writes after it. */
async function observe(server: Server, token: string, end: () => void): Promise<Seen> {
  const analyses = [await analyzeAs(server, token), await analyzeAs(server, server.token)];
  const [signUp, logIn, again] = await Promise.all([
    post(server, 'sign-up', 'new@home.example'),
    post(server, 'log-in', 'old@home.example'),
    analyzeAs(server, token),
  ]);
  end();
  const after = [
    await post(server, 'sign-up', 'after@home.example'),
    await post(server, 'log-in', 'old@home.example'),
  ];
  return { analyses: [...analyses, again], refused: [signUp, logIn], after };
}

function rowsOf(fault: string, server: Server, { analyses, refused, after }: Seen): Row[] {
  const not = (status: number) => (one: number) => one !== status;
  return [
    exactly(
      0,
      `${fault}: analyses not answered 200`,
      `of ${analyses.length}`,
      analyses.filter(not(200)).length,
    ),
    exactly(
      0,
      `${fault}: sign-up and log-in not answered 503`,
      `of ${refused.length}`,
      refused.filter(not(503)).length,
      `got ${refused.join(', ')}`,
    ),
    exactly(
      0,
      `${fault}: the same not answered well after it`,
      `of ${after.length}`,
      after.filter((status) => status < 200 || status > 299).length,
      `got ${after.join(', ')}`,
    ),
    exactly(0, `${fault}: the service ended`, 'times', isUp(server) ? 0 : 1),
  ];
}

export async function fullDisk(env: Readonly<Record<string, string>> = {}): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-disk-'));
  runProgram('mount', ['-t', 'tmpfs', '-o', `size=${diskMebibytes}m`, 'tmpfs', folder]);
  try {
    return await withServer({ ...quiet, UNDERTONE_DATA_DIR: folder, ...env }, async (server) => {
      await post(server, 'sign-up', 'old@home.example');
      const token = createToken(folder, '1d');
      await analyzeAs(server, token);
      const filler = join(folder, 'filler');
      fill(filler);
      return rowsOf('full disk', server, await observe(server, token, () => rmSync(filler)));
    });
  } finally {
    runProgram('umount', ['-l', folder]);
    rmSync(folder, { recursive: true });
  }
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

/** The short form: at most so many times the duration without the fault. */
const standstillMs = 250;
const timesUsual = 20;

/** The slowest /health while the database serves a log-in and an analysis. */
async function usualHealthMs(server: Server, token: string): Promise<number> {
  const probe = startHealthProbe(server.port, 20);
  await Promise.all([post(server, 'log-in', 'old@home.example'), analyzeAs(server, token)]);
  return (await probe.stop()).maxMs;
}

export async function lockedDatabase(long: boolean) {
  return withServer(quiet, async (server): Promise<Row[]> => {
    await post(server, 'sign-up', 'old@home.example');
    const token = createToken(server.dataDir, '1d');
    await analyzeAs(server, token);
    const limit = Math.max(standstillMs, long ? 0 : timesUsual * (await usualHealthMs(server, token)));
    const other = new Libsql(join(server.dataDir, 'undertone.db'));
    other.exec('begin immediate');
    const probe = startHealthProbe(server.port, 20);
    const seen = await observe(server, token, () => other.exec('commit')).finally(() => other.close());
    const { failed, maxMs } = await probe.stop();
    const slowest = failed > 0 ? null : maxMs;
    return [
      ...rowsOf('locked database', server, seen),
      atMost(limit, 'locked database: slowest /health', 'ms', slowest),
    ];
  });
}
