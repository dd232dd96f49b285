/**
 * Instructions of the kernels on arm64 (NEON), in an emulator, against those of SSE2: both compute four frames side by side.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atMost, figure, type Row, runProgram } from '../case.ts';
import { buildBenchmark, buildNative, installPackages } from '../packages.ts';
import { countWork } from './counts.ts';

/** Of the samples of each build: 10 s, and 1 s. */
const frames = { sse2: 1000, neon: 100 };
const triple = 'aarch64-linux-gnu';
const crossBuild = {
  UNDERTONE_KERNEL_TESTS: 'ON',
  CMAKE_BUILD_TYPE: 'Release',
  CMAKE_SYSTEM_NAME: 'Linux',
  CMAKE_SYSTEM_PROCESSOR: 'aarch64',
  CMAKE_C_COMPILER: `${triple}-gcc`,
  CMAKE_CXX_COMPILER: `${triple}-g++`,
};
const tasks = [
  { name: 'log-mel 80', task: 'log-mel-4' },
  { name: 'MFCC 13', task: 'mfcc-4' },
  { name: 'pitch, level and tilt', task: 'voice-4' },
] as const;

/** The name of the option changed in QEMU 8.1. */
function oneInstructionPerBlock(): string {
  return runProgram('qemu-aarch64', ['-help']).includes('-one-insn-per-tb')
    ? '-one-insn-per-tb'
    : '-singlestep';
}

/** All instructions of a run: the emulator logs each as a block of its own. */
function instructions(program: string, task: string, times: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-neon-'));
  const fifo = join(folder, 'log');
  const options = [oneInstructionPerBlock(), '-d', 'exec,nochain', '-D', fifo, '-L', `/usr/${triple}`];
  const script = 'mkfifo "$0"; fifo=$0; grep -c "^Trace" < "$fifo" & shift 0; "$@"; wait';
  try {
    return Number(
      runProgram('sh', ['-c', script, fifo, 'qemu-aarch64', ...options, program, task, String(times)]),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

export async function run(): Promise<readonly Row[]> {
  installPackages([`g++-${triple}`, 'qemu-user', 'doctest-dev', 'valgrind']);
  const sse2 = buildBenchmark('counts');
  const neon = join(buildNative('neon', crossBuild, ['benchmark_counts']), 'benchmark_counts');
  return tasks.map(({ name, task }) => {
    const work = instructions(neon, task, 2) - instructions(neon, task, 1);
    return atMost(1, {
      name: `${name}, NEON`,
      unit: 'instructions a frame',
      peer: figure([Math.round(countWork(sse2, [task]) / frames.sse2)]),
      ours: figure([Math.round(work / frames.neon)]),
      note: 'peer: SSE2',
    });
  });
}
