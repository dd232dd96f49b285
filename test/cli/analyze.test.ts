import { spawnSync } from 'node:child_process';
import * as fs from 'node:fs';
import { join, relative, resolve } from 'node:path';
import test from 'ava';
import { fixturesFolder } from '../../scripts/recordings.ts';
import { reportSchemas } from '../../src/engine/report.ts';
import { commandLine, runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { copyModels, noEmotion, renewHash, withoutEmotion } from '../support/models.ts';
import { hasTerminal, runInTerminal } from '../support/terminal.ts';
import { words } from '../support/words.ts';

const whole = resolve('examples/sample.wav');
/** Shorter: most tests analyse several. */
const sample = join(fixturesFolder(), 'speech.wav');

/** Recordings, nested folders, and other files. */
function makeTree(): string {
  const folder = makeFolder();
  fs.mkdirSync(join(folder, 'b'));
  for (const name of ['c', 'a.wav', 'b/z.mp3']) fs.copyFileSync(sample, join(folder, name));
  fs.writeFileSync(join(folder, 'b', 'notes.txt'), 'no sound');
  fs.writeFileSync(join(folder, 'empty.wav'), '');
  fs.symlinkSync('.', join(folder, 'loop'));
  return folder;
}

const errorOf = (msg: string, type: string) => ({ loc: ['body', 'audio'], msg, type });
const parseLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

test('one line of JSON a file, in order, with whole reports', async (t) => {
  const folder = makeTree();
  const args = ['analyze', '--jsonl', '--jobs', '2', 'missing.wav', '.', 'c'];
  const { code, stdout, stderr } = await runCli(args, { cwd: folder });
  t.is(code, 1, stderr);
  const lines = parseLines(stdout);
  const names = ['missing.wav', 'a.wav', 'b/notes.txt', 'b/z.mp3', 'c', 'empty.wav', 'c'];
  t.deepEqual(
    lines.map(({ path }) => path),
    names.map((name) => join(folder, name)),
  );
  t.deepEqual(lines[0].error, errorOf('No such file: missing.wav', 'value_error.audio.unreadable'));
  t.is(lines[2].error.type, 'value_error.audio.unsupported');
  t.is(lines[5].error.type, 'value_error.audio.empty');
  for (const line of [lines[1], lines[3], lines[4]]) {
    t.deepEqual(Object.keys(line), ['path', 'emotion', 'cognitive', 'audio', 'segments']);
    const hoisted = { audio: line.audio, segments: line.segments, request_id: 'a' };
    reportSchemas.emotion.parse({ ...line.emotion, ...hoisted });
    reportSchemas.cognitive.parse({ ...line.cognitive, ...hoisted });
    t.is(line.emotion.status, 'ok');
    t.deepEqual({ ...line, path: '' }, { ...lines[6], path: '' });
  }
  t.regex(stderr, /^7 files, 2 failed, 1 skipped without audio, \d+\.\d s of audio in \d+\.\d s\n$/);
});

test('--signals picks', async (t) => {
  const { code, stdout } = await runCli(['analyze', '--jsonl', '--signals', 'cognitive', sample]);
  t.is(code, 0);
  t.deepEqual(Object.keys(parseLines(stdout)[0]), ['path', 'cognitive', 'audio', 'segments']);
});

test('without --jsonl a few lines a file', async (t) => {
  const folder = makeFolder();
  fs.writeFileSync(join(folder, 'notes.txt'), 'no sound');
  const { code, stdout } = await runCli(['analyze', whole, 'notes.txt'], { cwd: folder });
  t.is(code, 1);
  const score = '\\d\\.\\d\\d';
  const range = `${score}  \\(${score} to ${score}\\)`;
  const expected = [
    whole.replaceAll('.', '\\.'),
    '  \\d+\\.\\d s of speech in \\d+\\.\\d s, wav pcm_s16le',
    `  emotion         \\w+ \\(${score}\\), tone \\w+`,
    `  valence         ${range}  0 negative, 1 positive`,
    `  arousal         ${range}  0 calm, 1 excited`,
    '  moments         none',
    `  cognitive load  ${range}  0 little effort, 1 great effort`,
    `  processing      ${range}  0 laboured, 1 fluent`,
    `  clarity         ${range}  0 hard to follow, 1 clear, rated on English sentences read aloud by Mandarin speakers`,
    '(  warning         [A-Z].*\\. \\([a-z_]+\\)\n)*.*notes\\.txt',
    '  failed: Expected an audio file, got .*',
  ];
  t.regex(stdout, new RegExp(`^${expected.join('\n').replace('\n(', '\n(')}\n$`));
});

test('a list, and a recording on standard input', async (t) => {
  const folder = makeFolder();
  fs.writeFileSync(join(folder, 'list.txt'), `${sample}\n\n-\r\n`);
  const input = fs.readFileSync(sample);
  const { code, stdout } = await runCli(['analyze', '--jsonl', '--list', 'list.txt'], { cwd: folder, input });
  t.is(code, 0);
  const [file, piped] = parseLines(stdout);
  t.deepEqual([file.path, piped.path], [sample, '-']);
  t.deepEqual({ ...piped, path: sample }, file);
  const listed = await runCli(['analyze', '--jsonl', '--list', '-'], { input: `${sample}\n` });
  t.deepEqual(parseLines(listed.stdout), [file]);
});

test('--output csv and table', async (t) => {
  const folder = makeFolder();
  const odd = join(folder, 'a "b", c.wav');
  fs.copyFileSync(sample, odd);
  fs.writeFileSync(join(folder, 'x.txt'), 'no sound');
  const csv = await runCli(['analyze', '--output', 'csv', odd, 'x.txt'], { cwd: folder });
  t.is(csv.code, 1);
  const [head = '', row = '', failed = '', ...rest] = csv.stdout.split('\n');
  t.regex(
    head,
    /^path,status,duration_s,speech_s,gaps_s,valence,.*,warnings,emotion_warnings,cognitive_warnings,error$/,
  );
  t.true(row.startsWith(`"${odd.replaceAll('"', '""')}",ok,11.4565,`), row);
  t.is(row.slice(row.indexOf('",ok,') + 2).split(',').length, head.split(',').length - 1);
  const commas = ','.repeat(head.split(',').length - 2);
  t.regex(failed, new RegExp(`x\\.txt,failed${commas}"?Expected an audio file, got `));
  t.deepEqual(rest, ['']);
  const table = await runCli(['analyze', '--output', 'table', odd, 'x.txt'], { cwd: folder });
  const lines = table.stdout.trimEnd().split('\n');
  const column = (lines[0] as string).indexOf('PATH');
  t.is((lines[1] as string).slice(column), 'a "b", c.wav');
  t.true((lines[2] as string).slice(column).startsWith('x.txt: Expected an audio file'));
});

const withTerminal = hasTerminal ? test : test.skip;
const quoted = (args: readonly string[]) =>
  commandLine(args)
    .map((part) => `'${part}'`)
    .join(' ');

for (const columns of [80, 110]) {
  withTerminal(`a terminal of ${columns} columns shows each result once, then the summary`, async (t) => {
    const folder = makeFolder();
    const names = ['a', 'b', 'c'];
    for (const name of names) fs.copyFileSync(sample, join(folder, name));
    const long = 'x'.repeat(150);
    fs.copyFileSync(sample, join(folder, long));
    const screen = await runInTerminal(quoted(['analyze', '--output', 'table', ...names, long]), columns, {
      cwd: folder,
    });
    t.is(screen.code, 0, screen.raw);
    t.true(screen.raw.includes('3/4 files, '), 'a bar was shown');
    const piped = await runCli(['analyze', '--output', 'table', ...names, long], { cwd: folder });
    const wrapped = piped.stdout
      .trimEnd()
      .split('\n')
      .flatMap((line) => line.match(new RegExp(`.{1,${columns}}`, 'g')) ?? []);
    t.deepEqual(
      screen.rows.slice(0, -1),
      wrapped.map((line) => line.trimEnd()),
    );
    t.regex(screen.rows.at(-1) ?? '', /^4 files, 0 failed, [\d.]+ s of audio in [\d.]+ s$/);
    t.is(screen.column, 0);
  });
}

withTerminal('a bar goes to a terminal’s standard error, and the lines stay clean', async (t) => {
  const folder = makeFolder();
  for (const name of ['a', 'b', 'c']) fs.copyFileSync(sample, join(folder, name));
  const command = `${quoted(['analyze', '--jsonl', 'a', 'b', 'c'])} > out.jsonl`;
  const screen = await runInTerminal(command, 80, { cwd: folder });
  t.is(screen.code, 0, screen.raw);
  t.true(screen.raw.includes('3/3 files'), screen.raw);
  t.is(screen.rows.length, 1);
  t.is(parseLines(fs.readFileSync(join(folder, 'out.jsonl'), 'utf8')).length, 3);
});

// Serial: tests in parallel with it block the thread, and the key would come after the last file.
(hasTerminal ? test.serial : test.skip)(
  'a bar changes no mode of the terminal, so that Ctrl-C leaves it usable',
  async (t) => {
    const folder = makeFolder();
    for (let index = 0; index < 200; index++) fs.copyFileSync(sample, join(folder, `${index}`));
    let interrupted = false;
    const { code, raw } = await runInTerminal(`${quoted(['analyze', '--jsonl', folder])} >/dev/null`, 80, {
      onData(shown, write) {
        if (interrupted || !shown.includes('/200 files')) return;
        interrupted = true;
        write('\x03');
      },
    });
    t.is(code, 130, raw);
    t.deepEqual(
      raw.split('\x1b').filter((part, at) => at > 0 && !part.startsWith('[K')),
      [],
    );
  },
);

test('walked files without audio are skipped; JSON lines list them', async (t) => {
  const folder = makeFolder();
  fs.copyFileSync(sample, join(folder, 'a'));
  fs.writeFileSync(join(folder, 'README.md'), 'no sound');
  fs.writeFileSync(join(folder, '.DS_Store'), '');
  const text = await runCli(['analyze', '--output', 'table', '.'], { cwd: folder });
  t.is(text.code, 0, text.stderr);
  t.is(text.stdout.trimEnd().split('\n').length, 2);
  t.regex(text.stderr, /^3 files, 0 failed, 2 skipped without audio, 11\.5 s of audio in /);
  const jsonl = await runCli(['analyze', '--jsonl', '.'], { cwd: folder });
  t.is(jsonl.code, 0);
  t.deepEqual(
    parseLines(jsonl.stdout).map(({ error }) => error?.type),
    ['value_error.audio.empty', 'value_error.audio.unsupported', undefined],
  );
  fs.writeFileSync(join(folder, 'broken.WAV'), 'no sound');
  const broken = await runCli(['analyze', '.'], { cwd: folder });
  t.is(broken.code, 1);
  t.regex(broken.stderr, /^4 files, 1 failed, 2 skipped/);
});

test('--baseline makes load and processing relative; --models chooses a set', async (t) => {
  const { code, stdout } = await runCli(words`analyze --jsonl --models fast --baseline ${sample} ${sample}`);
  t.is(code, 0);
  const { cognitive } = parseLines(stdout)[0];
  t.true(cognitive.relative);
  t.deepEqual([cognitive.signals.cognitive_load, cognitive.signals.processing], [0.5, 0.5]);
  const set = resolve('models/fast');
  const named = await runCli(words`analyze --jsonl --models-dir ${set} --baseline ${sample} ${sample}`);
  t.is(named.stdout, stdout);
  const text = await runCli(['analyze', '--models', 'fast', '--baseline', sample, sample]);
  t.regex(
    text.stdout,
    /^ {2}from baseline {3}valence [+-]?0\.\d\d \([+-]?0\.\d\d to [+-]?0\.\d\d\), [+-]?0\.\d times the usual variation; arousal /m,
  );
});

test('a refused ONNX file is an error of the models, which names the file', async (t) => {
  const models = await copyModels(t);
  fs.writeFileSync(join(models, 'emotion', 'weights.onnx'), 'no graph');
  await renewHash(models, 'emotion');
  const { code, stdout, stderr } = await runCli(['analyze', '--jsonl', '--models', models, sample]);
  t.is(code, 1);
  const { error } = parseLines(stdout)[0];
  t.deepEqual([error.loc, error.type], [['body', 'models'], 'value_error.models']);
  t.regex(error.msg, /^Model emotion: Expected a self-contained ONNX file for weights\.onnx, got: /);
  t.notRegex(stderr, /internal error|\n\s+at /);
});

test('a command line of 32,000 characters is read to its end', async (t) => {
  const longPath = `${'./'.repeat(1900)}${relative(process.cwd(), sample)}`;
  const { code, stdout, stderr } = await runCli(['analyze', '--jsonl', ...Array(8).fill(longPath)]);
  t.is(code, 0, stderr);
  t.is(parseLines(stdout).length, 8);
});

test('a closed pipe prints no error', (t) => {
  const args = ['analyze', '--jsonl', '--jobs', '1', ...Array(5).fill(sample)];
  const shell = `${commandLine(args).join(' ')} | head -c 1`;
  const { stdout, stderr } = spawnSync('sh', ['-c', shell], { encoding: 'utf8' });
  t.is(stdout, '{');
  t.false(stderr.includes('EPIPE'), stderr);
});

const empty = makeFolder();

const misuses: readonly [args: string[], message: string][] = [
  [['--signals', 'mood', 'x'], 'Expected emotion or cognitive for `--signals`, got "mood"'],
  [['--jobs', 'many', 'x'], 'Expected an integer from 1 to 999 for `--jobs`, got "many"'],
  [['--models-dir', '/nowhere', 'x'], 'Expected a folder of models, got /nowhere, which cannot be read'],
  [
    ['--output', 'xml', 'x'],
    'Expected one of text, table, csv, jsonl, parquet, textgrid, audacity for `--output`, got "xml"',
  ],
  [['--output', 'csv', '--jsonl', 'x'], 'Expected jsonl with --jsonl for `--output`, got csv'],
  [['--list', '/nowhere'], 'Expected a readable file for `--list`, got /nowhere: ENOENT'],
  [['--list', '-', '-'], 'Expected standard input once for `-`, got it more often'],
  [[], 'Expected at least one recording for `path`, got none'],
  [[''], 'Expected a file or a folder for `path`, got an empty text'],
  [[empty], `Expected a folder with files for \`path\`, got ${empty}, which has none`],
  [['--baseline', '/nowhere', 'x'], 'Expected a readable file for `--baseline`, got /nowhere: ENOENT'],
];

for (const [args, message] of misuses) {
  test(`analyze ${JSON.stringify(args).replace(empty, 'EMPTY')} ends with 2`, async (t) => {
    const { code, stdout, stderr } = await runCli(['analyze', ...args]);
    t.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: `${message}\n` });
  });
}

test('--models open names what replaces it', async (t) => {
  const { code, stdout, stderr } = await runCli(['analyze', '--models', 'open', sample]);
  t.deepEqual(
    { code, stdout, stderr },
    {
      code: 2,
      stdout: '',
      stderr:
        'Expected standard, large or fast (they may be sold) for `--models`, got open, which is no longer there\n',
    },
  );
  const folder = await runCli(['analyze', sample], {
    env: { UNDERTONE_MODELS_DIR: 'models/open' },
  });
  t.is(folder.code, 2);
  t.regex(
    folder.stderr,
    /got \S+\/models\/open, which cannot be read: use models\/standard, large or fast \(they may be sold\)\n$/,
  );
});

test('a signal that the models do not have is not available, with the reason', async (t) => {
  const models = await withoutEmotion(t);
  const text = await runCli(['analyze', '--models', models, sample]);
  t.is(text.code, 0, text.stderr);
  t.true(text.stdout.includes(`  emotion         ${noEmotion}\n`));
  t.regex(text.stdout, /clarity +0\.\d\d/);
  const csv = await runCli(['analyze', '--models', models, '--output', 'csv', sample]);
  const [head = '', row = ''] = csv.stdout.split('\n').map((line) => line.split(','));
  const cell = (name: string) => row[head.indexOf(name)];
  t.deepEqual([cell('status'), cell('valence'), cell('dominant_emotion')], ['ok', '', '']);
  t.regex(cell('clarity') ?? '', /^0\./);
  const args = words`analyze --models ${models} --output csv --by utterance ${sample}`;
  const refused = await runCli(args);
  t.deepEqual(
    [refused.code, refused.stderr],
    [2, 'Expected models with emotion for `--by utterance`, got others: choose --models\n'],
  );
});
