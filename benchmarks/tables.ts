/** Writes docs/results/benchmarks.md with its picture, and the table of README.md and docs/benchmarks.md, from benchmarks/results. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  describeProvenance,
  type Figure,
  markdownTable,
  type Provenance,
  type Row,
  readResults,
  root,
} from './case.ts';
import type { Load } from './cases/peers.ts';

type Result = Provenance & {
  readonly case: string;
  readonly rows: readonly Row[];
  readonly loads?: readonly Load[];
};

const marks = { start: '<!-- bench -->\n', end: '<!-- /bench -->' };

export function showFigure(figure: Figure | null): string {
  if (figure === null) return '-';
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  if (figure.low === figure.high) return digits(figure.median);
  return `${digits(figure.median)} (${digits(figure.low)}-${digits(figure.high)})`;
}

const verdict = ({ met }: Row) => (met ? 'met' : '**missed**');
const ratioOf = ({ ratio }: Row) => ratio?.toFixed(2) ?? '-';

function section({ case: name, rows, ...measured }: Result): string {
  const body = rows.map((row) => [
    row.name,
    row.unit,
    showFigure(row.peer),
    showFigure(row.ours),
    ratioOf(row),
    row.goal,
    verdict(row),
    row.note,
  ]);
  return [
    `## ${name}`,
    `\`npm run bench -- ${name}\`, ${describeProvenance(measured)}.`,
    markdownTable(['Row', 'Unit', 'Peer', 'Ours', 'Ratio', 'Goal', '', 'Note'], body),
    ...(remarks[name] === undefined ? [] : [remarks[name]]),
  ].join('\n\n');
}

const introduction = `# Results: benchmarks

Each case measures its peer and Undertone on the same audio in the same run and exits non-zero when a goal is missed; peers are
installed into a git-ignored folder. Figures are medians with the 10th and 90th percentile. \`npm run bench\` runs every case;
\`npm run bench -- tables\` writes this page and the table of README.md and docs/benchmarks.md from \`benchmarks/results\`.`;

/** What docs/benchmarks.md compares, one row of a result each; README.md has the first ones. */
const headlines = [
  [
    'Both signals of 10 s of speech, 8 connections: throughput',
    'classifiers: both signals of 10 s, 8 connections, FastAPI with transformers and wav2vec2-large',
    'FastAPI with transformers and a classifier of the size of wav2vec2-large: emotion alone',
    'faster',
  ],
  [
    'The same',
    'classifiers: both signals of 10 s, 8 connections, FastAPI with transformers and wav2vec2-base',
    'the same with wav2vec2-base',
    'faster',
  ],
  [
    'Emotion by an added wav2vec2-base, 8 connections: throughput',
    'classifiers: wav2vec2-base on both sides, emotion of 10 s, FastAPI with onnxruntime',
    'the same network, FastAPI with onnxruntime',
    'faster',
  ],
  [
    'Both signals of 10 s of speech, one connection',
    'peers: both signals of 10 s against the eGeMAPS features of openSMILE alone',
    'openSMILE, eGeMAPS features alone',
    'faster',
  ],
  [
    'The same, 8 connections: throughput',
    'peers: whole service, throughput, 8 connections',
    'FastAPI with librosa and the same models',
    'faster',
  ],
  [
    'The same, 8 connections: p99',
    'peers: whole service, p99, 8 connections',
    'FastAPI with librosa and the same models',
    'faster',
  ],
  [
    'Emotion alone, 8 connections: throughput',
    'peers: emotion alone, throughput, FastAPI, 8 connections',
    'FastAPI with librosa, without pitch',
    'faster',
  ],
  [
    'Memory under load, proportional',
    'peers: whole service, memory, 8 connections',
    'FastAPI with librosa and the same models',
    'less memory',
  ],
] as const;

const showTimes = (times: number) => (times >= 10 ? times.toFixed(0) : times.toFixed(1));

const rowsOfReadme = 4;

type Headline = (typeof headlines)[number];

/** Rows that no kept result has are left out. */
function headlineTable(results: readonly Result[], wantedRows: readonly Headline[]): string {
  const rows = results.flatMap((result) =>
    result.rows.map((row) => ({ ...row, id: `${result.case}: ${row.name}` })),
  );
  const lines = wantedRows.flatMap(([what, wanted, peer, gain]) => {
    const found = rows.find(({ id }) => id === wanted);
    if (!found?.ours || !found.peer) return [];
    const times = found.peer.median / found.ours.median;
    const ours = `${showFigure(found.ours)} ${found.unit}`;
    const theirs = `${peer}: ${showFigure(found.peer)} ${found.unit}`;
    const shown = showTimes(times);
    return [[what, ours, theirs, shown === '1.0' ? 'equal' : `**${shown} times** ${gain}`]];
  });
  return markdownTable(['What', 'Undertone', 'Peer, same run', ''], lines);
}

/** Rows of the case `memory` that the table quotes. */
export const memoryRows = {
  idle: 'resident, idle',
  before: 'resident, after short requests',
  after: 'resident, after short requests that follow long recordings',
} as const;

/** Resident memory of a process; empty without a result. */
function memorySentence(results: readonly Result[]): string[] {
  const rows = results.find((result) => result.case === 'memory')?.rows ?? [];
  const of = (name: string) => rows.find((row) => row.name === name)?.ours?.median.toFixed(0);
  const [idle, before, after] = [memoryRows.idle, memoryRows.before, memoryRows.after].map(of);
  if (idle === undefined || before === undefined || after === undefined) return [];
  return [
    `Proportional memory divides shared pages among processes. The resident memory of a process with two workers is ${idle} MiB when idle, ${before} MiB after
a thousand requests, and ${after} MiB after a thousand that follow recordings of 13 minutes.`,
  ];
}

function replaceMarked(path: string, content: string): void {
  const text = readFileSync(join(root, path), 'utf8');
  const start = text.indexOf(marks.start) + marks.start.length;
  const end = text.indexOf(marks.end);
  if (start < marks.start.length || end < start) throw new Error(`Expected ${marks.start.trim()} in ${path}`);
  writeFileSync(join(root, path), text.slice(0, start) + content + text.slice(end));
}

const loadsHead = ['Service', 'Connections', 'p50, ms', 'p99, ms', 'Requests/s', 'Memory, MiB'];

function loadsSection(loads: readonly Load[], measured: Provenance): string {
  const digits = (value: number) => (value >= 100 ? value.toFixed(0) : value.toPrecision(3));
  const body = loads.map(({ service, connections, p50, p99, perSecond, mebibytes }) => [
    service,
    String(connections),
    digits(p50),
    digits(p99),
    digits(perSecond),
    mebibytes.toFixed(0),
  ]);
  return [
    '## Whole services',
    '![Latency of whole services: median to 99th percentile](../pictures/peers.svg)',
    `Both signals of 10 s of speech as WAV, and emotion alone, which needs no pitch. All run the same graphs with a process or worker
per core; every connection sends its next request when it has its answer. \`npm run bench -- peers\`, ${describeProvenance(measured)}.`,
    markdownTable(loadsHead, body),
  ].join('\n\n');
}

export function writeTables(): void {
  const results = readResults<Result>(join(root, 'benchmarks', 'results'));
  const whole = results.flatMap(({ loads, ...measured }) => {
    if (loads === undefined) return [];
    writeFileSync(join(root, 'docs', 'pictures', 'peers.svg'), loadsPicture(loads));
    return [loadsSection(loads, measured)];
  });
  writeFileSync(
    join(root, 'docs', 'results', 'benchmarks.md'),
    `${[introduction, ...whole, ...results.map(section)].join('\n\n')}\n`,
  );
  const page = [headlineTable(results, headlines), ...memorySentence(results)];
  replaceMarked('docs/benchmarks.md', `${page.join('\n\n')}\n`);
  const first = headlines.slice(0, rowsOfReadme);
  const shown = results.filter((result) => first.some(([, row]) => row.startsWith(`${result.case}: `)));
  const processors = [...new Set(shown.map(({ machine }) => machine.cpu))];
  const measured = `Two cores of ${processors.join(', ')}. The peers have random weights of that size: timing needs no training.`;
  replaceMarked('README.md', `${headlineTable(results, first)}\n\n${measured}\n`);
}

/** Below the table of a case: what is measured, and why goals are missed. */
const remarks: Readonly<Record<string, string>> = {
  bulk: `Speech of 2 to 5 s per recording. Peers pay for their start: Python's imports take a second of each process. The pipeline in
Python measures no pitch, no quality and no utterances: it reads windows of 10 s.`,

  counts: `Instructions counted by valgrind's callgrind, which do not depend on the load of the machine. Continuous integration
runs this gate: it fails when a part exceeds its count in \`benchmarks/counts.json\` by more than the tolerance, and must find two
injected slowdowns. Kernels run at explicit vector widths, since valgrind does not support AVX-512. Counts depend on the compiler,
the C library, libav, soxr and Node; their versions are stored with the counts, and rows with other versions are not compared.
Requests run in V8's interpreter, because the work of its compilers varies between runs: counts measure work, not time.
\`npm run bench -- counts --keep\` stores new counts.`,

  decode: `\`vorbis.ogg\` is at its limit: five runs measured 1.32 to 1.45. Page checksums are verified once before libav verifies
them, which bounds the work for a file of damaged pages.`,

  exports: `Small models of the configurations of \`transformers\`, with random weights, exported with \`torch.onnx\` and added without editing.
Both sides get the samples of one utterance.`,

  features: `The roofline is the peak rate of independent chains of fused multiply-adds at that width (multiplications and
additions for SSE2, which has no fused ones). Operations per frame: 400 for the window, 2.5 n log2 n for the real transform
with n = 512, 3 per bin of power, 2 per weight of the sparse filters and 30 per filter for the logarithm.`,

  latency: `With two idle cores half of the request is the trunk: [what it consists of](#models).

At half of the capacity two concurrent analyses and the client occupy both cores: the main thread waits for the scheduler, although its
own work takes less than a millisecond per request.

Of 360 us of the main thread on an AMD EPYC, waking the worker takes 85 (an interrupt to another core of the virtual machine), writing the
response 77, as in the peer, metrics 33, routing 28, the request id 16, authentication 15, the log line 14, the trace 14, and
security headers 11. A hand-over to another thread at all costs more than the goal leaves.`,

  classifiers: `Both sides run one process or thread per core. The classifiers have the architecture of published ones and random
weights, which do not change the time. They return one label of the whole recording; Undertone decodes, finds speech and utterances,
and measures timing and pitch as well. As a set of \`undertone models add\` the same graph runs on utterances of 9.5 s at most.`,

  memory: `glibc keeps free memory for later requests. The service gives it back after a recording of a minute or more, and when
no task has run for two seconds, and limits the size of blocks that glibc keeps. The arena of each session keeps what its longest
run took; sessions of more than 64 MiB have none. With two workers some 80 MiB are pages of files (46 of Node.js, 22 of ONNX Runtime,
the rest of libav and what it links), and 37 V8's heap of the main thread: read by hand from /proc/PID/smaps.`,

  models: `By a profile of ONNX Runtime, two thirds of the trunk of \`standard\` are the 3x3 convolutions at the start of CAM++. The warning about several speakers reads a second of each four of an utterance; \`speakers\` reads all speech once more,
and follows the voice in steps of a tenth of a second.`,

  growth: `Rows compare a recording or a number of connections with the one before; the start of the command counts. Channels are decoded
and averaged.`,

  peers: `Most of the time of FastAPI with both signals is librosa.pyin. Single runs of the service differ by a tenth.
The models are most of a request without pitch, in the same runtime on both sides. Undertone also measures quality, conditions and utterances.

Both stacks receive the same recording of 10 s at 16 kHz in the same form; their features and median pitch are compared.
The Python stack runs one process per core on uvloop and httptools, decodes with soundfile, and computes in the event loop.
Time outside the sessions is all CPU time of the process minus that inside ONNX Runtime. The service measures pitch for the
cognitive signals: rows with pitch compare the same work for both signals, rows without it compare emotion alone. Without pitch a
factor of twenty is out of reach: librosa computes log-mel features of 10 s in 3 to 4 ms, mostly in numpy's transform in C, and
receiving 320 kB through Node's HTTP takes 0.2 ms, decoding them 0.4 ms.`,

  startup: `The service is ready with its first worker. Until then Node.js 20 compiles the code of the service anew in the main thread and
in that worker, and ONNX Runtime prepares the graphs. Node.js 22 keeps compiled code in the data folder. The first request runs code
for the first time.`,

  stream: `Clients of the same process stream speech in real time, in frames of 0.1 s, and start evenly within an interval. A message
is late by the time from the frame with the sample that decides it to its arrival; the benchmark computes that sample by the
analysis of the service. Stages are those of steps in one thread without other work.`,

  'worker-scaling': `Recordings have 30 s, so that clients and main thread, which share the two cores with the analysis, use less
than a twentieth of the CPU time. The service on one core has one worker.`,
};

/** Of the picture. */
const width = 720;
const left = 300;
const right = 20;
const top = 30;
const rowHeight = 18;
const groupGap = 10;
/** Powers of ten, ms. */
const axis = [10, 100, 1000, 10_000, 100_000];
const [lowest = 1, highest = 1] = [axis[0], axis.at(-1)];
const colours = { ours: '#0b6e4f', peer: '#7a7a7a', text: '#222', grid: '#ddd' };

const x = (ms: number) =>
  (left + (Math.log(ms / lowest) / Math.log(highest / lowest)) * (width - left - right)).toFixed(1);

const timeOf = (ms: number) => (ms < 1000 ? `${ms} ms` : `${ms / 1000} s`);

function loadLine({ service, connections, p50, p99 }: Load, y: number): string {
  const colour = service.startsWith('Undertone') ? colours.ours : colours.peer;
  const middle = y - 4;
  return [
    `<text x="${left - 10}" y="${y}" text-anchor="end">${service}, ${connections}</text>`,
    `<line x1="${x(p50)}" x2="${x(p99)}" y1="${middle}" y2="${middle}" stroke="${colour}" stroke-width="3"/>`,
    `<circle cx="${x(p50)}" cy="${middle}" r="4.5" fill="${colour}"/>`,
  ].join('');
}

/**
 * The latencies of whole services at each number of connections, as SVG: a line from the median to the 99th percentile.
 * @param loads rows of a group, which a gap follows, have one number of connections
 */
function loadsPicture(loads: readonly Load[]): string {
  const counts = [...new Set(loads.map(({ connections }) => connections))];
  let y = top;
  const rows = counts.flatMap((count) => {
    const group = loads
      .filter(({ connections }) => connections === count)
      .map((load) => {
        y += rowHeight;
        return loadLine(load, y);
      });
    y += groupGap;
    return group;
  });
  const grid = axis.map(
    (ms) =>
      `<line x1="${x(ms)}" x2="${x(ms)}" y1="${top}" y2="${y}" stroke="${colours.grid}"/>` +
      `<text x="${x(ms)}" y="${top - 8}" text-anchor="middle">${timeOf(ms)}</text>`,
  );
  const style = `font-family="sans-serif" font-size="12" fill="${colours.text}"`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${y + 10}" ${style} role="img">`,
    '<title>Latency of whole services: median (circle) to 99th percentile, by connections</title>',
    `<rect width="${width}" height="${y + 10}" fill="#fff"/>`,
    ...grid,
    ...rows,
    '</svg>\n',
  ].join('\n');
}
