/**
 * `npm run profile`: where the time of a request goes, at idle, at 80 % of the capacity and with 32 connections that always wait for
 * an answer. Prints the time of each stage and of each function, and writes a flame graph of each load into build/profile. The profiler
 * costs some per cent. `--path /v1/analyze/emotion` requests one signal.
 */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { runScript } from '../scripts/run-script.ts';
import { html } from '../src/service/html.ts';
import { percentile } from '../src/tools/evaluate/statistics.ts';
import { printTable, root } from './case.ts';
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
} from './service.ts';

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

/** Of the Chrome DevTools Protocol, as far as it is used. Times are in microseconds. */
export type CpuProfile = {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string };
    readonly children?: readonly number[];
  }[];
  readonly startTime: number;
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
};

type Frame = { readonly name: string; micros: number; readonly callees: Map<string, Frame> };

/** Waiting is no work. */
const waiting = ['(idle)', 'atomicsWaitLoop', '(root)'];
const width = 1200;
const rowHeight = 18;
const minWidth = 0.5;
const characterWidth = 6.5;

const frame = (name: string): Frame => ({ name, micros: 0, callees: new Map() });

/**
 * @param profiles with the name of each thread
 * @param sinceMicros only samples after this time of the clock of the profiles
 */
export function mergeProfiles(
  profiles: readonly (readonly [thread: string, profile: CpuProfile])[],
  sinceMicros: number,
): Frame {
  const root = frame('all threads');
  for (const [thread, profile] of profiles) addProfile(root, thread, profile, sinceMicros);
  return root;
}

function addProfile(root: Frame, thread: string, profile: CpuProfile, sinceMicros: number): void {
  const stacks = stacksOf(profile);
  let at = profile.startTime;
  for (const [index, id] of profile.samples.entries()) {
    const micros = profile.timeDeltas[index] ?? 0;
    at += micros;
    const stack = stacks.get(id) ?? [];
    if (at < sinceMicros || waiting.includes(stack.at(-1) ?? '')) continue;
    let current = root;
    current.micros += micros;
    for (const name of [thread, ...stack]) {
      const next = current.callees.get(name) ?? frame(name);
      current.callees.set(name, next);
      next.micros += micros;
      current = next;
    }
  }
}

/** Names of the functions from the outermost on, by node. */
function stacksOf({ nodes }: CpuProfile): ReadonlyMap<number, readonly string[]> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const stacks = new Map<number, readonly string[]>();
  const visit = (id: number, above: readonly string[]): void => {
    const node = byId.get(id);
    if (node === undefined) return;
    const { functionName, url } = node.callFrame;
    const name = functionName || (url === '' ? '(anonymous)' : basename(url));
    const stack = name === '(root)' ? above : [...above, name];
    stacks.set(id, stack.length === 0 ? ['(root)'] : stack);
    for (const child of node.children ?? []) visit(child, stack);
  };
  if (nodes[0] !== undefined) visit(nodes[0].id, []);
  return stacks;
}

/** Time of each function without that of its callees, in all threads together, the largest first. */
export function selfTimes(root: Frame): readonly (readonly [name: string, micros: number])[] {
  const found = new Map<string, number>();
  const visit = (own: Frame): void => {
    const callees = [...own.callees.values()];
    const rest = own.micros - callees.reduce((sum, { micros }) => sum + micros, 0);
    if (rest > 0) found.set(own.name, (found.get(own.name) ?? 0) + rest);
    callees.forEach(visit);
  };
  visit(root);
  return [...found].sort(([, one], [, other]) => other - one);
}

export function flameGraph(root: Frame, title: string): string {
  const boxes: { readonly html: string }[] = [];
  let depth = 0;
  const draw = (own: Frame, x: number, level: number): void => {
    const w = (own.micros / root.micros) * width;
    if (w < minWidth) return;
    depth = Math.max(depth, level);
    const share = `${own.name}: ${(own.micros / 1000).toFixed(1)} ms, ${((100 * own.micros) / root.micros).toFixed(1)} %`;
    const letters = Math.floor((w - 4) / characterWidth);
    const label = letters < 3 ? '' : own.name.slice(0, letters);
    boxes.push(
      html`<g><title>${share}</title><rect x="${x.toFixed(1)}" y="${(level + 1) * rowHeight}" width="${(w - 0.3).toFixed(1)}" height="${rowHeight - 1}" fill="hsl(${hueOf(own.name)} 60% 75%)"/><text x="${(x + 3).toFixed(1)}" y="${(level + 1) * rowHeight + 13}">${label}</text></g>`,
    );
    let at = x;
    for (const callee of [...own.callees.values()].sort((one, other) => other.micros - one.micros)) {
      draw(callee, at, level + 1);
      at += (callee.micros / root.micros) * width;
    }
  };
  draw(root, 0, 0);
  const height = (depth + 2) * rowHeight + 4;
  return html`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="monospace" font-size="11">
<rect width="100%" height="100%" fill="#fff"/><text x="4" y="13" font-size="13">${title}</text>${boxes}</svg>
`.html;
}

/** Of one function the same in every picture. */
function hueOf(name: string): number {
  return [...name].reduce((hash, character) => (31 * hash + (character.codePointAt(0) ?? 0)) % 360, 7);
}

// Tests import this file and run nothing.
if (process.argv[1] === fileURLToPath(import.meta.url))
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
