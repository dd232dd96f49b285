/**
 * `npm run profile`: where the time of a request goes, at idle, at 80 % of the capacity and with 32 connections that always wait for
 * an answer. Prints the time of each stage and of each function, and writes a flame graph of each load into build/profile. The profiler
 * costs some per cent. `--path /v1/analyze/emotion` requests one signal.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runScript } from '../../scripts/run-script.ts';
import { percentile } from '../../src/tools/evaluate/statistics.ts';
import { printTable, root } from '../case.ts';
import {
  type Answer,
  analyze,
  buildService,
  capacity,
  closeConnections,
  closedLoop,
  openLoop,
  post,
  startService,
  times,
} from '../service.ts';
import { type CpuProfile, flameGraph, mergeProfiles, selfTimes } from './flame-graph.ts';

const connections = 32;
/** Of functions in the table. */
const shown = 30;
const warmUps = 40;
const share = 0.8;
const folder = join(root, 'build', 'profile');

type Load = { readonly name: string; readonly send: (port: number) => Promise<Answer[]> };

type Options = { readonly requests: number; readonly path: string };

const loadsOf = ({ requests, path }: Options): readonly Load[] => [
  {
    name: 'idle',
    send: async (port) => {
      const answers: Answer[] = [];
      for (let index = 0; index < requests; index++) answers.push(await analyze(port, path));
      return answers;
    },
  },
  {
    name: 'load',
    send: async (port) => {
      const perSecond = share * (await capacity(port, path));
      return openLoop({ requests, perSecond }, () => analyze(port, path));
    },
  },
  {
    name: 'saturation',
    send: async (port) => {
      const answers: Answer[] = [];
      await closedLoop(connections, requests, async () => {
        const answer = await analyze(port, path);
        answers.push(answer);
        return answer.ms;
      });
      return answers;
    },
  },
];

type Profiled = { readonly answers: readonly Answer[]; readonly functions: string[][] };

async function profile({ name, send }: Load, path: string): Promise<Profiled> {
  const profiles = mkdtempSync(join(tmpdir(), 'undertone-profile-'));
  try {
    const service = await startService({ UNDERTONE_QUEUE: String(2 * connections) }, [
      '--cpu-prof',
      `--cpu-prof-dir=${profiles}`,
    ]);
    await times(warmUps, () => post(service.port, path));
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
    const merged = mergeProfiles(read, since);
    const file = join(folder, `${name}.svg`);
    writeFileSync(file, flameGraph(merged, `${answers.length} requests of 10 s of audio, ${name}`));
    console.log(file);
    const functions = selfTimes(merged)
      .slice(0, shown)
      .map(([called, micros]) => [name, called, (micros / 1000 / answers.length).toFixed(3)]);
    return { answers, functions };
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
  const { long, path } = parseArgs({
    options: { long: { type: 'boolean' }, path: { type: 'string', default: '/v1/analyze' } },
  }).values;
  buildService();
  mkdirSync(folder, { recursive: true });
  const stages: string[][] = [];
  const functions: string[][] = [];
  for (const load of loadsOf({ requests: long ? 1000 : 200, path })) {
    const found = await profile(load, path);
    stages.push(...stageRows(load.name, found.answers));
    functions.push(...found.functions);
  }
  printTable([['load', 'stage', 'p50, ms', 'p99, ms'], ...stages]);
  printTable([['load', 'function, without what it calls', 'ms per request'], ...functions]);
});
