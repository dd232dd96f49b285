/** A disk that is full and a database that somebody else locks, under the accounts. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import Libsql from 'libsql';
import { runProgram } from '../../../benchmarks/case.ts';
import { atMost, exactly, type Row } from '../case.ts';
import { isUp, type Server, withServer } from '../service.ts';
import { analyzeAs, createToken, post } from './account.ts';

const quiet = { UNDERTONE_LOG_LEVEL: 'silent', UNDERTONE_WORKERS: '1', UNDERTONE_SIGNUP: 'open' };
const diskMebibytes = 8;

type Seen = { readonly analyses: number[]; readonly refused: number[]; readonly after: number[] };

/** Analyses and writes while the fault lasts, and writes after it. */
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
    exactly(0, {
      name: `${fault}: analyses not answered 200`,
      unit: `of ${analyses.length}`,
      value: analyses.filter(not(200)).length,
    }),
    exactly(0, {
      name: `${fault}: sign-up and log-in not answered 503`,
      unit: `of ${refused.length}`,
      value: refused.filter(not(503)).length,
      note: `got ${refused.join(', ')}`,
    }),
    exactly(0, {
      name: `${fault}: the same not answered well after it`,
      unit: `of ${after.length}`,
      value: after.filter((status) => status < 200 || status > 299).length,
      note: `got ${after.join(', ')}`,
    }),
    exactly(0, { name: `${fault}: the service ended`, unit: 'times', value: isUp(server) ? 0 : 1 }),
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

/** Longest that /health took until the work was done. */
async function slowestHealth({ url }: Server, done: () => boolean): Promise<number> {
  let slowest = 0;
  while (!done()) {
    const asked = performance.now();
    await fetch(`${url}/health`).then((response) => response.text());
    slowest = Math.max(slowest, performance.now() - asked);
    await sleep(20);
  }
  return slowest;
}

/** While the same work is done without a fault. */
async function usualHealth(server: Server, token: string): Promise<number> {
  let done = false;
  const health = slowestHealth(server, () => done);
  await Promise.all([post(server, 'log-in', 'old@home.example'), analyzeAs(server, token)]).finally(() => {
    done = true;
  });
  return health;
}

/** The short form shares its machine: there it may be so many times what it is without the fault, too. */
const standstillMs = 250;
const timesUsual = 20;

export async function lockedDatabase(long: boolean) {
  return withServer(quiet, async (server): Promise<Row[]> => {
    await post(server, 'sign-up', 'old@home.example');
    const token = createToken(server.dataDir, '1d');
    await analyzeAs(server, token);
    const usual = long ? 0 : await usualHealth(server, token);
    const most = Math.max(standstillMs, timesUsual * usual);
    const other = new Libsql(join(server.dataDir, 'undertone.db'));
    other.exec('begin immediate');
    let done = false;
    const health = slowestHealth(server, () => done).catch(() => null);
    const seen = await observe(server, token, () => other.exec('commit')).finally(() => {
      done = true;
      other.close();
    });
    return [
      ...rowsOf('locked database', server, seen),
      atMost(most, {
        name: 'locked database: slowest /health',
        unit: 'ms',
        value: await health,
      }),
    ];
  });
}
