/** The commands of the documents work, and the settings that they list are all that exist. */
import { readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { clients } from '../scripts/clients.ts';
import { scriptLines } from '../scripts/help.ts';
import { settingNames } from '../src/service/config.ts';
import { runCli } from './support/cli.ts';
import { allExamples, documents, examples } from './support/documents.ts';
import { invocations, run, strictCurl } from './support/programs.ts';
import { startServer } from './support/server.ts';
import {
  mypyErrors,
  pyrightErrors,
  pythonPrograms,
  tscErrors,
  typeScriptPrograms,
} from './support/type-checks.ts';
import { words } from './support/words.ts';

/**
 * They set up, serve or test the whole tree, need recordings that are not part of it, or a cluster; the tests of clients
 * install them, and `npm run reliability deployment` does what supervisors and builders of images would.
 */
const skipped =
  /^(npm start|npm test|npm run evaluate|npm run prebuild|npm install |pip install |training\/|systemctl |podman |docker |kubectl |tar )/;
/** Where the documents say that the service is. */
const address = 'http://127.0.0.1:8080';
/** What the examples leave in the working folder. */
const left = words`
  sample.npy sample.TextGrid annotations answer.json keys.json receipt-keys.json calls.csv utterances.csv
`;

function commandsOf(block: string): string[] {
  const lines = block.replaceAll('\\\n', ' ').split('\n');
  return lines.filter((line) => line.trim() !== '' && !skipped.test(line));
}

const isProgram = (language: string) => language === 'ts' || language === 'python';
const runnable = (document: string) =>
  allExamples(document).filter(
    ({ language, code }) => isProgram(language) || (language === 'sh' && commandsOf(code).length > 0),
  );

/** What matches an output that a page shows: a line `...` stands for any lines, and at the end of a line for the rest of it. */
function outputPattern(shown: string): RegExp {
  const lines = shown
    .trimEnd()
    .split('\n')
    .map((line) =>
      line.trim() === '...'
        ? '(?:.*\\n)*?'
        : `${line
            .trimEnd()
            .replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
            .replace(/\\.\\.\\.$/, '.*')}[ \\t]*\\n`,
    );
  return new RegExp(`^${lines.join('')}$`);
}

// In their order: programs read files that commands have written.
for (const document of documents.filter((name) => runnable(name).length > 0)) {
  test.serial(`the examples of ${document} end well, and print what it shows`, async (t) => {
    const found = runnable(document);
    const isServed = found.some(({ language, code }) => !isProgram(language) || code.includes(address));
    const { url, token } = isServed ? await startServer(t) : { url: address, token: '' };
    const dataDir = await mkdtemp(join(tmpdir(), 'undertone-readme-'));
    t.teardown(() =>
      Promise.all([dataDir, ...left].map((path) => rm(path, { recursive: true, force: true }))),
    );
    const env = { ...(await strictCurl(dataDir)), TOKEN: token, UNDERTONE_DATA_DIR: dataDir };
    for (const { language, code, output: shown } of found) {
      const here = code.replaceAll(address, url);
      const steps = isProgram(language)
        ? [invocations[language as 'ts' | 'python'](here, { TOKEN: token })]
        : commandsOf(here).map((line) => invocations.sh(line, env));
      let printed = '';
      for (const step of steps) {
        const { code: exitCode, output, stdout } = await run(...step);
        t.is(exitCode, 0, `${step[1].at(-1)}\n${output}`);
        printed = stdout;
      }
      if (shown !== undefined) t.regex(printed, outputPattern(shown), code);
    }
  });
}

test('the documents have commands to run, programs to load and outputs to compare', (t) => {
  const all = documents.flatMap(runnable);
  const count = (language: string) => all.filter((example) => example.language === language).length;
  t.true(documents.flatMap((document) => examples(document, 'sh').flatMap(commandsOf)).length >= 16);
  t.true(count('ts') >= 2);
  t.true(count('python') >= 2);
  t.true(all.filter(({ output }) => output !== undefined).length >= 4);
});

test('a shown output matches what was printed alone', (t) => {
  t.regex('a: 7.4 times\nb\n', outputPattern('a: ...\nb\n'));
  const pattern = outputPattern('a (1.0)\n...\n  c\n');
  for (const printed of ['a (1.0)\n  c\n', 'a (1.0) \nb\nb\n  c\n']) t.regex(printed, pattern);
  for (const printed of ['a (1.1)\n  c\n', 'a (1.0)\nb\n', 'a (1.0)\n  c\nd\n', 'a (1x0)\n  c\n'])
    t.notRegex(printed, pattern);
});

/** Reads scores that too little speech does not have. */
const careless = {
  python: `from undertone_client import Client

print(Client("http://127.0.0.1:8080", "token").analyze("a.wav")["emotion"]["signals"]["valence"])
`,
  ts: `import { createClient } from 'undertone-client';
console.log((await createClient({ url: '' }).emotion('a.wav')).signals.valence.toFixed(1));
`,
};

test.serial('the Python programs of the documents have no type errors', (t) => {
  const programs = pythonPrograms();
  t.true(programs.length >= 7);
  t.deepEqual(mypyErrors(programs), []);
  t.deepEqual(pyrightErrors(programs), []);
});

test.serial('the TypeScript programs of the documents have no type errors', (t) => {
  const programs = typeScriptPrograms();
  t.true(programs.length >= 5);
  t.deepEqual(tscErrors(programs), []);
});

test.serial('scores without a look at the status are a type error', (t) => {
  for (const errors of [
    mypyErrors([careless.python]),
    pyrightErrors([careless.python]),
    tscErrors([careless.ts]),
  ])
    t.true(errors.length > 0);
});

test('npm run help has a line for each of at most 20 scripts', (t) => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'));
  t.deepEqual(Object.keys(scriptLines), Object.keys(scripts));
  t.true(Object.keys(scripts).length <= 20);
});

test('documents and sources name scripts and cases that there are', async (t) => {
  const { output } = await run(process.execPath, ['--import=tsx', 'test/reliability/run.ts', 'none'], {});
  const [, listed = ''] = /^Expected one of (.*), got "none"$/m.exec(output) ?? [];
  const cases = listed.split(', ');
  for (const name of ['hostile', 'fuzz', 'fleet', 'neon', 'pipecat', 'livekit', 'install', 'tables'])
    t.true(cases.includes(name), name);
  const named = await run(
    'git',
    ['grep', '-hoE', 'npm run (--silent )?[a-z]+(:[a-z]+)?( (-- )?[a-z]+)?'],
    {},
  );
  const commands = named.output.trim().split('\n');
  t.true(commands.length > 100);
  for (const command of commands) {
    const [, script = '', name] =
      /^npm run (?:--silent )?([a-z]+(?::[a-z]+)?)(?: (?:-- )?(.*))?$/.exec(command) ?? [];
    t.true(script in scriptLines, command);
    if (script === 'reliability' && name !== undefined) t.true(cases.includes(name), command);
  }
});

/** What `report` has in place of each value of `shown`, numbers rounded to two decimals. */
function partOf(report: unknown, shown: unknown): unknown {
  if (typeof report === 'number') return Math.round(100 * report) / 100;
  if (Array.isArray(report)) return report.map((value) => partOf(value, value));
  if (typeof shown !== 'object' || shown === null) return report;
  const found = report as Readonly<Record<string, unknown>>;
  return Object.fromEntries(Object.entries(shown).map(([key, value]) => [key, partOf(found?.[key], value)]));
}

test.serial('README.md shows a part of the report of the sample', async (t) => {
  const { code, stdout, stderr } = await runCli(['analyze', '--jsonl', 'examples/sample.wav']);
  t.is(code, 0, stderr);
  const [shown = ''] = examples('README.md', 'json');
  const expected = JSON.parse(shown);
  t.deepEqual(partOf(JSON.parse(stdout), expected), expected);
});

test('the READMEs of the clients are right where a package manager copies them', (t) => {
  for (const folder of Object.values(clients)) {
    const text = readFileSync(`${folder}/README.md`, 'utf8');
    t.deepEqual(text.match(/\]\((?!https?:|#)[^)]*\)/g), null, 'links to files next to it');
    const pages = [...text.matchAll(/`\/docs\/([\w-]+\.md)(?:#([\w-]+))?`/g)];
    t.true(pages.length > 0);
    for (const [page, file, anchor = ''] of pages) {
      const headings = readFileSync(`docs/${file}`, 'utf8').match(/(?<=^#+ ).*/gm) ?? [];
      const anchors = ['', ...headings.map((heading) => heading.toLowerCase().replaceAll(' ', '-'))];
      t.true(anchors.includes(anchor), page);
    }
    const installs = text.match(/^(npm|pip) install .*/gm) ?? [];
    for (const install of installs) t.regex(install, /\/path\/to\/undertone\/clients/);
    t.true(installs.length > 0);
  }
});

test('docs/operations.md lists every setting and no other', (t) => {
  const rows = readFileSync('docs/operations.md', 'utf8').match(/^\| UNDERTONE_[^|]*/gm) ?? [];
  const listed = rows.flatMap((row) => row.match(/UNDERTONE_\w+/g) ?? []);
  t.deepEqual(listed.sort(), [...settingNames].sort());
});

test('docs/results/calls.md shows the measured rates of several_speakers', (t) => {
  type Run = { readonly figures: readonly { readonly figure: string; readonly value: number }[] };
  const results: Record<string, Run> = JSON.parse(
    readFileSync('training/results/several_speakers.json', 'utf8'),
  );
  const part = /<!-- several-speakers -->(.*)<!-- end of several-speakers -->/s;
  const [, section = ''] = part.exec(readFileSync('docs/results/calls.md', 'utf8')) ?? [];
  const rows = section.split('\n').map((line) => line.split('|').map((cell) => cell.trim()));
  const titles = rows.find((row) => row[1] === 'recordings') ?? [];
  for (const [set, { figures }] of Object.entries(results)) {
    t.true(figures.length > 0);
    for (const { figure, value } of figures) {
      const cell = rows.find((row) => row[1] === figure)?.[titles.indexOf(set)] ?? '';
      // Python rounds a half to even.
      t.true(Math.abs(Number.parseFloat(cell) - value) < 0.005 + 1e-9, `${set}: ${figure}`);
    }
  }
});

test('every figure of the README stands in results', (t) => {
  const text = readFileSync('README.md', 'utf8')
    .replace(/^```.*?^```$/gms, '')
    .replaceAll(/\]\([^)]*\)/g, ']');
  const pages = [
    'docs/models.md',
    'docs/evidence.md',
    ...readdirSync('docs/results').map((name) => `docs/results/${name}`),
  ];
  const lines = pages.flatMap((page) => readFileSync(page, 'utf8').split('\n'));
  const figuresOf = (line: string): readonly string[] =>
    line.match(/(?<![\w.-])\d+(?:\.\d+|(?= (?:%|ms|times)))/g) ?? [];
  const rows = text.split('\n').filter((line) => figuresOf(line).length > 0);
  t.true(rows.length > 8);
  for (const row of rows) {
    const figures = figuresOf(row.replace('Apache-2.0', ''));
    // The scores of a row stand in one row there.
    const scores = row.startsWith('| ') ? figures.filter((figure) => figure.startsWith('0.')) : [];
    t.true(
      lines.some((line) => scores.every((figure) => figuresOf(line).includes(figure))),
      row,
    );
    for (const figure of figures)
      t.true(
        lines.some((line) => line.includes(figure)),
        `${figure}: ${row}`,
      );
  }
});
