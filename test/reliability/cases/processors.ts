/** The scores of recordings on emulated processors, against those of this one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, root } from '../../../benchmarks/case.ts';
import { installPackages } from '../../../benchmarks/packages.ts';
import { fixturesFolder } from '../../../scripts/recordings.ts';
import { multipliesExactly } from '../../../src/node/onnx.ts';
import {
  analyzeOptions,
  compareReports,
  parseReports,
  type Report,
  roundingLimits,
} from '../../install/recordings.ts';
import { atMost, exactly, informational, negativeControl, type Options, type Row } from '../case.ts';
import { tools } from '../corpus/encodings.ts';
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

/** Of copies whose scores only rounding changes: the models normalise the level. */
const gains = Array.from({ length: 8 }, (_, index) => 1 + (index + 1) / 2 ** 20);

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
  return [
    informational('recordings', 'files', recordings.length),
    informational('this processor: frames side by side', 'frames', lanesOf([process.execPath])),
    ...rows,
    ...compareGains(),
    negativeControl('a valence 0.01 higher', compare('this processor', here, here.map(raiseValence))),
    ...(long && multipliesExactly ? [saturationControl(here.slice(0, 1))] : []),
  ];
}

/** With this processor's /proc/cpuinfo the service lets AVX2 multiply int8 as if it had VNNI. */
function saturationControl(here: readonly Report[]): Row {
  const [{ name, model }] = processors;
  const saturating = ['qemu-x86_64', '-cpu', model, process.execPath];
  return negativeControl('int8 products that saturate', compare(name, here, analyze(saturating, [sample])));
}

function raiseValence({ emotion, ...rest }: Report): Report {
  const { valence, ...signals } = emotion.signals as Record<string, unknown>;
  return { ...rest, emotion: { ...emotion, signals: { ...signals, valence: Number(valence) + 0.01 } } };
}

/** The sample in float, at other gains. */
function compareGains(): Row[] {
  const folder = cacheFolder('processors/gains');
  const copies = [1, ...gains].map((gain, index) => {
    const path = join(folder, `${index}.wav`);
    const options = `-nostdin -loglevel error -y -i ${sample} -af volume=${gain}:precision=double -c:a pcm_f32le`;
    execFileSync('ffmpeg', [...options.split(' '), path], { cwd: root });
    return path;
  });
  const [original, ...others] = analyze([process.execPath], copies);
  return compare(
    'a gain of 1 + k / 2^20',
    others.map(() => original as Report),
    others,
  );
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
  return parseReports(execute([...node, 'dist/src/cli.js', ...analyzeOptions, ...recordings]));
}

function compare(name: string, here: readonly Report[], there: readonly Report[]): Row[] {
  const { recording, utterance } = compareReports(here, there);
  return [
    atMost(
      roundingLimits.recording,
      `${name}: largest difference of a recording's score`,
      'score',
      recording,
    ),
    atMost(
      roundingLimits.utterance,
      `${name}: largest difference of an utterance's score`,
      'score',
      utterance,
    ),
  ];
}
