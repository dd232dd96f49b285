/** The scores of recordings on emulated processors, against those of this one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { tolerance } from '../../../src/receipts/verify.ts';
import { distance } from '../../install/recordings.ts';
import { atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { tools } from '../corpus/generate.ts';
import { buildService } from '../support/service.ts';

const sample = 'examples/sample.wav';
const files = [
  'cbr.mp3',
  'aac.m4a',
  'opus.ogg',
  'vorbis.webm',
  'speech.flac',
  'alac.caf',
  'speech.amr',
  'mono-8k.wav',
  'f32.wav',
];

/** qemu has no model with AVX-512. */
const processors = [
  { name: 'AVX2 without VNNI', model: 'Haswell', lanes: 8, features: /\bavx512\w*|\bavx_vnni|\bamx_\w+/g },
  { name: 'SSE', model: 'Nehalem', lanes: 4, features: /\bavx\w*|\bfma|\bf16c|\bamx_\w+/g },
] as const;

type Signals = Readonly<Record<string, unknown>>;
type Body = { readonly signals: Signals; readonly timeline?: readonly Signals[] };
type Report = { readonly emotion: Body; readonly cognitive: Body };

export async function run({ long }: Options): Promise<readonly Row[]> {
  installPackages([...tools, 'qemu-user']);
  buildService();
  const paths = [join(root, sample), ...files.map((name) => join(fixturesFolder(), name))];
  const recordings = long ? paths : paths.slice(0, 1);
  const here = analyze([process.execPath], recordings);
  const rows = (long ? processors : processors.slice(0, 1)).flatMap(({ name, model, lanes, features }) => {
    const emulator = ['qemu-x86_64', '-cpu', model, '-L', makePrefix(model, features), process.execPath];
    return [
      exactly(lanes, `${name}: frames side by side`, 'frames', lanesOf(emulator)),
      ...compare(name, here, analyze(emulator, recordings)),
    ];
  });
  const other = here.map(({ emotion, cognitive }): Report => {
    const { valence, ...signals } = emotion.signals;
    return { emotion: { ...emotion, signals: { ...signals, valence: Number(valence) + 0.01 } }, cognitive };
  });
  return [
    informational('recordings', 'files', recordings.length),
    informational('this processor: frames side by side', 'frames', lanesOf([process.execPath])),
    ...rows,
    negativeControl('a valence 0.01 higher', compare('this processor', here, other)),
  ];
}

/** ONNX Runtime asks the processor; the service reads /proc/cpuinfo, which qemu passes through. */
function makePrefix(model: string, features: RegExp): string {
  const prefix = join(cacheFolder('processors'), model);
  mkdirSync(join(prefix, 'proc'), { recursive: true });
  writeFileSync(join(prefix, 'proc/cpuinfo'), readFileSync('/proc/cpuinfo', 'utf8').replace(features, ''));
  return prefix;
}

function execute([program = '', ...args]: readonly string[]): string {
  return execFileSync(program, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
}

function lanesOf(node: readonly string[]): number {
  return Number(execute([...node, '-p', 'require("./build/Release/undertone.node").lanes']));
}

function analyze(node: readonly string[], recordings: readonly string[]): Report[] {
  const output = execute([...node, 'dist/src/cli.js', 'analyze', '--jsonl', '--jobs', '1', ...recordings]);
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

function compare(name: string, here: readonly Report[], there: readonly Report[]): Row[] {
  const largest = (pick: (body: Body) => unknown) =>
    Math.max(
      ...here.flatMap((report, index) =>
        (['emotion', 'cognitive'] as const).map((signal) =>
          distance(pick(report[signal]), there[index] && pick(there[index][signal])),
        ),
      ),
    );
  return [
    atMost(
      tolerance,
      `${name}: largest difference of a recording's score`,
      'score',
      largest(({ signals }) => signals),
    ),
    informational(
      `${name}: largest difference of an utterance's score`,
      'score',
      largest(({ timeline = [] }) => timeline),
    ),
  ];
}
