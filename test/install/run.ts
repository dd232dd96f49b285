/**
 * `npm run reliability install` installs the packages of `npm run prebuild` in clean systems and compares their answers with the
 * build from source: `-- NAME` in one of them, `-- --keep` writes the table of docs/results/install.md. Needs root, debootstrap,
 * strace, ffmpeg and the package registries; for arm64 qemu-user, libc6-arm64-cross and libstdc++6-arm64-cross.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { requireTools, root } from '../../scripts/prebuild/step.ts';
import { requireFile, requireNames, runScript } from '../../scripts/run-script.ts';
import { testEmulated } from './emulated.ts';
import {
  cache,
  compareReports,
  type Differences,
  exceeded,
  type Report,
  roundingLimits,
  sourceAnswers,
} from './recordings.ts';
import { type System, testSystem } from './systems.ts';

const maxSeconds = 60;
const emulated = 'arm64 in qemu-user';
/** The packages have the kernels of the build from source. */
const sameProcessorLimits: Differences = { recording: 0.001, utterance: 0.001, other: 0.001 };

const differencesHead = ["a recording's scores", "an utterance's", 'other values'];

type Case = { readonly system: System | typeof emulated; readonly node: string; readonly npm: string };
type Row = { readonly columns: readonly string[]; readonly failure: string | null };

/** Every system with the current Node.js, every Node.js and npm on one system. */
const cases: readonly Case[] = [
  { system: 'Debian 12', node: '20', npm: '9' },
  { system: 'Debian 12', node: '22', npm: '10' },
  { system: 'Debian 12', node: '24', npm: '11' },
  { system: 'Debian 12', node: '24', npm: '12' },
  { system: 'Debian 13', node: '24', npm: '12' },
  { system: 'Ubuntu 22.04', node: '22', npm: '11' },
  { system: 'Ubuntu 24.04', node: '24', npm: '12' },
  { system: emulated, node: '24', npm: '12' },
];

function test({ system, node, npm }: Case, expected: readonly Report[]): Row {
  const result = system === emulated ? testEmulated(node, npm) : testSystem(system, node, npm);
  const differences = compareReports(expected, result.answers);
  const { recording, utterance, other } = differences;
  const measured = [recording, utterance, other].map((difference) => difference.toPrecision(1));
  const limits = system === emulated ? roundingLimits : sameProcessorLimits;
  const failures = [
    ...exceeded(differences, limits).map((part) => `${part}: answers differ by ${differences[part]}`),
    ...(system !== emulated && result.seconds > maxSeconds
      ? [`${result.seconds} s until the first answer`]
      : []),
  ];
  const columns = [system, node, npm, `${result.seconds.toFixed(0)} s`, result.size, ...measured];
  return { columns, failure: failures.join(', ') || null };
}

function attempt(each: Case, expected: readonly Report[]): Row {
  process.stderr.write(`${each.system}, Node.js ${each.node}, npm ${each.npm} ...\n`);
  try {
    return test(each, expected);
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { columns: [each.system, each.node, each.npm, 'failed', '', '', '', ''], failure };
  }
}

function writeTable(table: string): void {
  const document = join(root, 'docs/results/install.md');
  const marked = /(<!-- results -->\n\n)[\s\S]*?(\n\n<!-- end of results -->)/;
  const text = readFileSync(document, 'utf8');
  writeFileSync(
    document,
    text.replace(marked, (_, from, to) => `${from}${table}${to}`),
  );
}

function main(): void {
  const { values, positionals } = parseArgs({
    options: { keep: { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  requireNames([...new Set(cases.map(({ system }) => system))], positionals);
  requireTools({ ffmpeg: 'ffmpeg' });
  requireFile(join(root, 'dist/packages'), 'run `npm run prebuild`');
  mkdirSync(cache, { recursive: true });
  const expected = sourceAnswers();
  const selected = cases.filter(({ system }) => positionals.length === 0 || positionals.includes(system));
  const rows = selected.map((each) => attempt(each, expected));
  const head = ['system', 'Node.js', 'npm', 'until the first answer', 'node_modules', ...differencesHead];
  const table = [head, head.map(() => '---'), ...rows.map(({ columns }) => columns)]
    .map((columns) => `| ${columns.join(' | ')} |`)
    .join('\n');
  console.log(table);
  for (const { columns, failure } of rows)
    if (failure !== null) console.log(`${columns.slice(0, 3).join(', ')}: ${failure}`);
  if (values.keep) writeTable(table);
  if (rows.some(({ failure }) => failure !== null)) process.exitCode = 1;
}

await runScript(main);
