/** npm run reliability -- CASE [--long] [--seed N] [--count N]: runs a case, prints its figures, fails when a goal is missed. */
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import {
  caseNames,
  describeProvenance,
  importRun,
  markdownTable,
  type Provenance,
  printTable,
  readResults,
  root,
  writeResult,
} from '../../benchmarks/case.ts';
import { ExpectedError, requireNames, runScript } from '../../scripts/run-script.ts';
import type { Options, Row, Run } from './case.ts';

const casesFolder = fileURLToPath(new URL('cases', import.meta.url));

/** Cases without figures: programs with arguments of their own. */
const programs: Readonly<Record<string, readonly [command: string, ...args: string[]]>> = {
  neon: ['sh', 'scripts/neon.sh'],
  pipecat: [process.execPath, '--import=tsx', 'test/clients/agent.ts', 'pipecat'],
  livekit: [process.execPath, '--import=tsx', 'test/clients/agent.ts', 'livekit'],
  install: [process.execPath, '--import=tsx', 'test/install/run.ts'],
};

function natural(name: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new ExpectedError(`Expected a whole number for \`${name}\`, got "${text}"`);
}

function parse(): { name: string; options: Options } {
  const { values, positionals } = parseArgs({
    options: { long: { type: 'boolean' }, seed: { type: 'string' }, count: { type: 'string' } },
    allowPositionals: true,
  });
  const [name = ''] = positionals;
  requireNames([...caseNames(casesFolder), ...Object.keys(programs), 'tables'], [name]);
  const seed = natural('seed', values.seed) ?? 1;
  return { name, options: { long: values.long ?? false, seed, count: natural('count', values.count) } };
}

function cells(row: Row): string[] {
  return [row.name, row.unit, showValue(row.value), row.goal, row.met ? 'met' : 'MISSED', row.note];
}

async function runCase(name: string, options: Options): Promise<boolean> {
  const run = await importRun<Run>(casesFolder, name);
  const started = performance.now();
  const rows = await run(options);
  const took = performance.now() - started;
  printTable([['figure', 'unit', 'value', 'goal', '', 'note'], ...rows.map(cells)]);
  console.log(`${name}: ${(took / 1000).toFixed(1)} s, seed ${options.seed}`);
  const { long, seed } = options;
  // Only figures of the long form are kept.
  if (long) writeResult(resultsFolder, name, { seed, seconds: Math.round(took / 1000), rows });
  return rows.length > 0 && rows.every(({ met }) => met);
}

// Writes docs/results/reliability.md from test/reliability/results.

type Result = Provenance & {
  readonly case: string;
  readonly seed: number;
  readonly seconds: number;
  readonly rows: readonly Row[];
};

const resultsFolder = join(root, 'test', 'reliability', 'results');

const introduction = `# Results: reliability

Each section is one command: it starts the service, attacks it, and exits non-zero when a goal is missed. The default is a short
form for machines with other load: it compares times with others of the same run, while the bounds on times hold in \`--long\`.
The figures below are of \`--long\`. A row named *negative control* runs the same check on an injected fault, which it must
find. \`npm run reliability -- tables\` writes this page from \`test/reliability/results\`.`;

function showValue(value: number | null): string {
  if (value === null) return '-';
  if (Number.isInteger(value)) return value.toLocaleString('en');
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
}

function section(result: Result): string {
  const body = result.rows.map((row) => {
    const verdict = row.met ? 'met' : '**missed**';
    return [row.name, row.unit, showValue(row.value), row.goal, row.goal === 'none' ? '' : verdict, row.note];
  });
  return [
    `## ${result.case}`,
    ...(notes[result.case] === undefined ? [] : [notes[result.case]]),
    `\`npm run reliability -- ${result.case} --long --seed ${result.seed}\`, ${result.seconds} s, ${describeProvenance(result)}.`,
    markdownTable(['Figure', 'Unit', 'Value', 'Goal', '', 'Note'], body),
  ].join('\n\n');
}

function writePage(): void {
  const results = readResults<Result>(resultsFolder);
  const text = [introduction, ...results.map(section)].join('\n\n');
  writeFileSync(join(root, 'docs', 'results', 'reliability.md'), `${text}\n`);
}

/** What each case does, above its table in docs/results/reliability.md. */
const notes: Readonly<Record<string, string>> = {
  overload: `A load generator in its own process uploads 10 s of WAV in a closed loop (capacity), then at random times at 80 %
of the capacity, then at four times the capacity; one upload in ten waits for \`100 Continue\`. /health is requested every 50 ms.
The service has one worker, so that generator and worker have a core each on a machine with two. Last, 64 clients ignore
Retry-After: at 270 refusals a second the service accepted 90 % of its capacity, and at 670, while other processes used both cores,
42 to 46 %.

A refused upload of 320 kB takes the main thread 0.4 to 0.6 ms on one machine; one of 1 kB takes 0.2 ms, which is a connection
and its response. The difference is five reads of 64 KiB, half of it in the kernel; the HTTP parser and the raw socket read at the same
cost. Sent in 230 pieces within 0.15 s, as by a network, it takes 1.0 to 1.2 ms, and 1.5 to 1.8 ms without the reads at intervals.`,
  slow: `Equal numbers of connections that send nothing, send a header line or a byte of a body every half second, or read 5.6 MB
of responses byte by byte, while a client uploads one second of WAV at a time. A limit is met when the last connection of
its kind closes within three seconds of it. The short form lowers the limits to ten seconds and compares medians.`,
  abort: `Clients disconnect at a random moment: before a byte, in the head or the body, while the recording is queued or
analysed, or at the first byte of the response; by a reset or an orderly end. Slots, descriptors and threads after the second
half are compared with those after the first; the slope of resident memory, after garbage collection, is the median over all pairs.`,
  soak: `Four clients send speech and tones in six containers to the three analyses; a tenth of the requests are probes and
pages, a tenth malformed or hostile. Garbage is collected every second. The slope of resident memory is the median of the
slopes between the lowest points of twelve stretches, after the first quarter of the requests.`,
  strangers: `What one account can do to others. First, bodies within the limits that are as expensive as possible: the figure is
the longest CPU time of the main thread during one request to /health, the minimum of up to three rounds (short form: the CPU time
for the whole body, minus that of an ordinary one of the same length). Then uploads that send nothing or stop half-way, while
another account analyses, posts jobs and logs in; and a queue that one owner fills with URLs whose callbacks never answer.`,
  fleet: `Three hosts in network namespaces behind HAProxy, one PostgreSQL, one Redis and two kinds of clients: one does not
retry, one follows the documented retry policy. One host is killed under load, all are restarted in turn, and the database stops
and returns. Needs root.`,
  deployment: `The tool that reads each file of \`deploy/\` checks it. The system calls of the service from start to exit are
compared with the unit's filter. nginx runs in front of the service with its file. The long form builds both images of the Containerfile with podman, on roots that debootstrap makes,
and runs them read-only, without a network. Needs root.`,
  hardening: `The service in its own mount and network namespaces, with one writable folder, the loopback interface, no
capabilities and a control group of 512 MiB (\`test/reliability/support/sandbox.sh\`). Root inside the namespaces tries which
folders are writable. Needs root.`,
  faults: `The data folder is on a full disk of 8 MB. Then libfaketime sets the clock of a service, and of a service with
Redis and a worker while they run: the clock of Redis and the monotonic clock stay. Needs root.`,
  chaos: `Two workers, with running and queued requests, while one worker dies of an uncaught error, an exit or a full heap. A
replacement is complete when both workers respond at the same time.`,
  shutdown: `Thirty-two clients upload continuously, on a connection for each request, on one persistent connection, or with
pauses; the service receives SIGTERM at a random moment. Every request sent within 0.9 s (the grace period is one second, ten
in the short form) must be answered 200 and completely. Later requests may be refused before the service reads a byte. Then 24
clients open a connection for each request without a pause, of a service with a queue of two, until their connection is refused.`,
  fuzz: `libFuzzer mutates small files of every container family, specs and samples, under AddressSanitizer and
UndefinedBehaviorSanitizer: \`test/fuzz\` holds targets, seeds and dictionaries. A finding is a crash, undefined behaviour, a
leak, a number that is not finite, a wrong kind of error, more than 5 s of CPU time or 256 MB of memory for one input. The long
form runs each target for \`--count\` minutes (10 by default) and continues from \`.cache/fuzz\`; the short form runs each for
\`--count\` seconds (5) from the committed files. FFmpeg and soxr are Debian's, without instrumentation. The multipart reader is
JavaScript: fast-check tests its properties with random forms.`,
  contract: `Spectral (\`spectral:oas\`) lints the published document; Redocly does in \`npm test\`. Requests to running services
then produce every status of every operation: an injected fault for 500, a stopped database or Redis for 503, 201 tokens for
429. Schemathesis sends valid and invalid requests made from the document, with a token and a session. It does not require that
all valid data is accepted where a schema cannot express the rule: what audio is, and which addresses and names are in use.`,
  privacy: `Unique words in samples, text chunks, file names, part names, paths, tokens and passwords pass through every outcome of an
analysis; log (at \`trace\`), output, metrics, responses and data folder are searched for them, also in hexadecimal and base64,
while strace records every call that writes or creates a file. \`test/auth\` and \`test/http\` test how tokens are stored and
compared, that 401 is sent before the body is read, and the limits of log-ins.`,
  hostile: `Files of every supported container and codec, video, encrypted and multi-stream files, forged headers, boxes and tags,
and files without audio. Files that once took minutes or gigabytes are sent first, unchanged; then seed and number select a file,
mutate it in one to three ways and upload it, four at a time. Every response is validated against the published document. Memory
is the peak over the resident set before; requests that exceed a limit together are sent again alone. Findings are written to
\`.cache/reliability/findings\`; the same seed and number reproduce them.`,
  conformance: `Recordings in every container, codec, rate, layout and option that ffmpeg and sox write; those that ffmpeg decodes
without a warning must be answered 200 with its duration. Images, silent films, texts, playlists, archives, programs, noise and
zeros, each under four names and types, must be refused as \`value_error.audio.unsupported\`. The short form takes a quarter of
the recordings.`,
  multipart: `Forms with every kind of boundary, line end, header, name and payload, complete or damaged. The service has its own
temporary folder, which must stay empty.`,
  determinism: `The digest of each response, under one request id, against that of the same file sent alone to one worker.`,
  sanitizers: `The native tests, with three damaged copies of each recording (100 in the long form, \`--count\` sets it), under
AddressSanitizer and UndefinedBehaviorSanitizer; in the long form also under ThreadSanitizer, with tests on several threads,
and the tests of the addon inside Node under the first two. \`-DSANITIZE=address\`, \`undefined\`, \`thread\` or a
comma-separated list builds any target so.`,
  stream: `Samples that ffmpeg makes, of speech, noise, tones and silence in every encoding, rate and layout, are streamed in as few
frames as possible, uploaded, and streamed again, cut into frames at random: every message is compared with that of the uncut stream.
Then clients disconnect at a random moment from the handshake to the report, send garbage, flood the service with frames or are
silent until it closes the session. One owner opens all sessions that it gets; one floods 64 of them with frames, then ends. The
slope of resident memory, over whole sessions of one second, is measured as in \`soak\`.`,
  bombs: `Small files with forged headers, and files with hours of silence, one after the other to a service with one worker. CPU
time is that of all threads of the service. Memory is the peak of the resident set over its value before the request. Silence
is decoded for a minute; then its packets are counted.`,
};

await runScript(async () => {
  const [first = '', ...rest] = process.argv.slice(2);
  const program = programs[first];
  if (program !== undefined) {
    const [command, ...args] = program;
    process.exitCode = spawnSync(command, [...args, ...rest], { stdio: 'inherit' }).status ?? 1;
    return;
  }
  const { name, options } = parse();
  if (name === 'tables') writePage();
  else if (!(await runCase(name, options))) process.exitCode = 1;
});
// Open handles of a failed case must not keep the process alive.
if (process.exitCode === 1) process.exit();
