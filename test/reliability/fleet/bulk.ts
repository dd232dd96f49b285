/** `undertone bulk` over a folder through the fleet, with one host killed half-way: every file is answered exactly once. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Fleet } from '../../../deploy/fleet/fleet.ts';
import type { Host } from '../../../deploy/fleet/host.ts';
import { createToken } from '../../../deploy/fleet/tokens.ts';
import { commandLine } from '../../support/cli.ts';
import { exactly, informational, type Row } from '../case.ts';

const copies = 80;
const sample = 'examples/sample.wav';

/** `data`: a folder of recordings; null: copies of the sample. */
export async function checkBulk(fleet: Fleet, data: string | null): Promise<Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'undertone-bulk-'));
  try {
    return await measure(
      fleet,
      data ?? copySample(join(folder, 'recordings')),
      join(folder, 'answers.jsonl'),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function copySample(folder: string): string {
  mkdirSync(folder);
  for (let index = 0; index < copies; index++) copyFileSync(sample, join(folder, `${index}.wav`));
  return folder;
}

async function measure(fleet: Fleet, recordings: string, output: string): Promise<Row[]> {
  const files = filesOf(recordings).length;
  const answered = () => (existsSync(output) ? readFileSync(output, 'utf8').split('\n').length - 1 : 0);
  const args = ['bulk', recordings, '--url', fleet.url, '--output', output];
  const [program = '', ...rest] = commandLine(args);
  const env = { PATH: process.env.PATH, UNDERTONE_TOKEN: createToken(fleet, 'bulk') };
  const started = performance.now();
  const bulk = spawn(program, rest, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(bulk, 'close');
  const [victim] = fleet.hosts as [Host, ...Host[]];
  while (answered() < files / 2 && bulk.exitCode === null) await sleep(200);
  const before = answered();
  await victim.stop('SIGKILL');
  const [code] = (await ended) as [number | null];
  const seconds = (performance.now() - started) / 1000;
  await victim.start();
  const paths = readFileSync(output, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { path: string }).path);
  const note = `a host killed after ${before}; ${(files / seconds).toFixed(0)} files/s`;
  return [
    informational('bulk: files sent', 'files', files, note),
    exactly(files, 'files answered', 'files', new Set(paths).size),
    exactly(0, 'answered more than once', 'files', paths.length - new Set(paths).size),
    exactly(0, 'exit code of the command', '', code),
  ];
}

/** Every file, as the command walks the folder. */
function filesOf(folder: string): string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}
