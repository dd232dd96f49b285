/**
 * `npm run profile`: where the time of a request goes, at idle and at 80 % of the capacity. Prints a table of stages, and writes
 * a flame graph of each into build/profile. The profiler costs some per cent.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runScript } from '../../scripts/run-script.ts';
import { root } from '../case.ts';
import { percentile } from '../percentile.ts';
import { type Answer, analyze, closeConnections, post, times } from '../request/client.ts';
import { capacity, openLoop } from '../request/load.ts';
import { buildService, startService } from '../service.ts';
import { printTable } from '../text-table.ts';
import { type CpuProfile, flameGraph, mergeProfiles } from './flame-graph.ts';

const requests = process.argv.includes('--long') ? 1000 : 200;
const warmUps = 40;
const share = 0.8;
const folder = join(root, 'build', 'profile');

type Load = { readonly name: string; readonly send: (port: number) => Promise<Answer[]> };

const loads: readonly Load[] = [
  {
    name: 'idle',
    send: async (port) => {
      const answers: Answer[] = [];
      for (let index = 0; index < requests; index++) answers.push(await analyze(port));
      return answers;
    },
  },
  {
    name: 'load',
    send: async (port) => {
      const perSecond = share * (await capacity(port));
      return openLoop({ requests, perSecond }, () => analyze(port));
    },
  },
];

async function profile({ name, send }: Load): Promise<readonly Answer[]> {
  const profiles = mkdtempSync(join(tmpdir(), 'undertone-profile-'));
  try {
    const service = await startService({}, ['--cpu-prof', `--cpu-prof-dir=${profiles}`]);
    await times(warmUps, () => post(service.port));
    // The clock of the profiles and of process.hrtime is the same.
    const since = Number(process.hrtime.bigint() / 1000n);
    const answers = await send(service.port);
    closeConnections();
    await service.stop();
    const files = readdirSync(profiles).sort();
    const read = files.map((file, index): readonly [string, CpuProfile] => [
      index === 0 ? 'main thread' : `analysis thread ${index}`,
      JSON.parse(readFileSync(join(profiles, file), 'utf8')),
    ]);
    const path = join(folder, `${name}.svg`);
    writeFileSync(
      path,
      flameGraph(mergeProfiles(read, since), `${requests} requests of 10 s of audio, ${name}`),
    );
    console.log(path);
    return answers;
  } finally {
    rmSync(profiles, { recursive: true, force: true });
  }
}

function stageRows(name: string, answers: readonly Answer[]): string[][] {
  const stages = [...new Set(answers.flatMap(({ stages: own }) => [...own.keys()]))];
  const rowOf = (stage: string, values: readonly number[]) => {
    const [p50 = 0, p99 = 0] = [percentile(values, 0.5), percentile(values, 0.99)].map(Number);
    return [name, stage, p50.toFixed(3), p99.toFixed(3)];
  };
  return [
    ...stages.map((stage) =>
      rowOf(
        stage,
        answers.map(({ stages: own }) => own.get(stage) ?? 0),
      ),
    ),
    rowOf(
      'whole request, by the client',
      answers.map(({ ms }) => ms),
    ),
  ];
}

await runScript(async () => {
  parseArgs({ options: { long: { type: 'boolean' } } });
  buildService();
  mkdirSync(folder, { recursive: true });
  const rows: string[][] = [];
  for (const load of loads) rows.push(...stageRows(load.name, await profile(load)));
  printTable([['load', 'stage', 'p50, ms', 'p99, ms'], ...rows]);
});
