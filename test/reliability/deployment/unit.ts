/** The systemd unit: errors, exposure, and system calls that its filter blocks. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root, runProgram } from '../../../benchmarks/case.ts';
import { childrenOf } from '../../../benchmarks/process.ts';
import { closeConnections, post, token } from '../../../benchmarks/service.ts';
import { execute } from '../support/program.ts';

export const unit = 'deploy/systemd/undertone.service';

const systemdAnalyze = (...args: readonly string[]) => execute('systemd-analyze', args).output;

/** Lines in which systemd complains of this unit. Paths where the service is installed need not be here. */
export function faultsOf(file: string): string[] {
  const lines = systemdAnalyze('verify', '--man=no', file).split('\n');
  return lines.filter((line) => line.includes('undertone') && !/is not executable: No such file/.test(line));
}

/** From 0, locked down, to 10. */
export function exposureOf(file: string): number | null {
  const found = /Overall exposure level for \S+: ([\d.]+)/.exec(
    systemdAnalyze('security', '--offline=true', file),
  );
  return found === null ? null : Number(found[1]);
}

/** System calls that SystemCallFilter allows; lines with ~ remove names. */
export function allowedCalls(text: string): ReadonlySet<string> {
  const allowed = new Set<string>();
  for (const [, without, list = ''] of text.matchAll(/^SystemCallFilter=(~?)(.*)$/gm)) {
    for (const name of list.split(/\s+/).flatMap(callsOf)) {
      if (without === '~') allowed.delete(name);
      else allowed.add(name);
    }
  }
  return allowed;
}

function callsOf(name: string): string[] {
  if (!name.startsWith('@')) return name === '' ? [] : [name];
  const lines = runProgram('systemd-analyze', ['syscall-filter', name]).split('\n').slice(1);
  return lines
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .flatMap(callsOf);
}

/** Not root, since some libraries behave differently for root. */
const nobody = 65_534;

/** System calls of the service from start over one analysis to SIGTERM. */
export async function callsOfService(): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-trace-'));
  const counts = join(folder, 'calls');
  const env = {
    PATH: process.env.PATH,
    UNDERTONE_PORT: '0',
    UNDERTONE_DATA_DIR: folder,
    UNDERTONE_TOKEN: token,
    UNDERTONE_DEADLINE_S: '600',
  };
  chownSync(folder, nobody, nobody);
  const command = [
    '-u',
    'nobody',
    '-f',
    '-qq',
    '-c',
    '-o',
    counts,
    process.execPath,
    'dist/src/cli.js',
    'serve',
  ];
  const traced = spawn('strace', command, { cwd: root, env, stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = await once(traced.stdout, 'data');
    await post(Number(/:(\d+)\n/.exec(String(line))?.[1]));
    const [served] = childrenOf(traced.pid as number);
    process.kill(served as number, 'SIGTERM');
    await once(traced, 'close');
    const rows = readFileSync(counts, 'utf8').matchAll(/^ *[\d.]+ +[\d.]+ +\d+ +\d+ +(?:\d+ +)?(\w+)$/gm);
    return new Set([...rows].map(([, name = '']) => name).filter((name) => name !== 'total'));
  } finally {
    closeConnections();
    traced.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  }
}
