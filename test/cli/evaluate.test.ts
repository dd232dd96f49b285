/** `undertone evaluate` on a corpus that the test makes: one voice at several levels. */
import { mkdirSync, readdirSync, readFileSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { samplesOf } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';

const voice = samplesOf('speech.wav').subarray(0, 16_000 * 4);
const names = ['a', 'b', 'c', 'd', 'e', 'f'];

/** Six recordings of six speakers in two groups. */
function makeCorpus() {
  const folder = makeFolder();
  mkdirSync(join(folder, 'audio'));
  const lines = names.map((name, index) => {
    writeFileSync(
      join(folder, 'audio', `${name}.wav`),
      wavFile(voice.map((sample) => sample * (1 - index / 10))),
    );
    return `audio/${name}.wav,${index === 0 ? 'frustrated' : 'neutral'},0.5,${name},${index < 5 ? 'north' : 'south'}`;
  });
  const labels = join(folder, 'labels.csv');
  writeFileSync(labels, ['path,label,valence,speaker,group', ...lines, ''].join('\n'));
  const out = join(folder, 'report');
  const run = (...args: readonly string[]) => runCli(['evaluate', labels, '--out', out, ...args]);
  const report = () => JSON.parse(readFileSync(join(out, 'report.json'), 'utf8'));
  return { folder, labels, out, run, report };
}

test('measures, reports, and keeps no audio', async (t) => {
  const { run, out, report } = makeCorpus();
  const { code, stdout, stderr } = await run();
  t.is(code, 0, stderr);
  t.regex(stdout, /^answered ok +1\.000 +1\.00 to 1\.00 +6 speakers +card /);
  for (const [figure, group] of [
    ['UAR of the labels of the file', '12 acted corpora'],
    ['confidence less accuracy', 'corpus left out'],
    ['CCC of valence', 'TAVA'],
  ]) {
    t.regex(stdout, new RegExp(`^${figure} .* card -?0\\.\\d{3} \\(${group}\\)`, 'm'));
  }
  t.regex(stdout, /The models have no label frustrated: these recordings do not count for emotions\.\n/);
  t.is(stderr, '6 files analysed, 0 failed\n');
  t.deepEqual(readdirSync(out).sort(), ['report.html', 'report.json', 'scores.jsonl']);
  const { figures, confusion, models } = report();
  t.is(models.length, 5);
  const of = (figure: string) => figures.find((one: { figure: string }) => one.figure === figure);
  t.like(of('error of the dominant emotion at 100 % coverage'), { group: 'all', recordings: 5, speakers: 5 });
  t.is(
    Object.values(confusion.neutral as Record<string, number>).reduce((sum, count) => sum + count, 0),
    5,
  );
  const page = readFileSync(join(out, 'report.html'), 'utf8');
  t.regex(page, /<h2>All recordings<\/h2>/);
  t.regex(page, /<h2>Group north<\/h2>/);
  t.regex(page, /<td>1\.000 \(1\.00 to 1\.00\)<\/td><td>6<\/td><td>6<\/td>\s+<td>\d\.\d{3}, [^<]+<\/td>/);
  t.is(page.match(/<figcaption>/g)?.length, 2);
  t.notRegex(page, /<script|https?:\/\//);
  t.true(statSync(join(out, 'scores.jsonl')).size < 6 * 2000);
});

test('an interrupted run resumes; changed files and other models are scored again', async (t) => {
  const { folder, run, out } = makeCorpus();
  await run();
  const file = join(out, 'scores.jsonl');
  const lines = readFileSync(file, 'utf8').trimEnd().split('\n');
  writeFileSync(file, `${lines.slice(0, 4).join('\n')}\n${lines[4]?.slice(0, 40)}`);
  t.is((await run()).stderr, '3 files analysed, 0 failed\n');
  utimesSync(join(folder, 'audio', 'a.wav'), 1, 1);
  t.is((await run()).stderr, '1 file analysed, 0 failed\n');
  t.is((await run('--models', 'fast')).stderr, '6 files analysed, 0 failed\n');
});

test('a recording that cannot be analysed is named, and the others count', async (t) => {
  const { folder, run, report } = makeCorpus();
  writeFileSync(join(folder, 'audio', 'b.wav'), 'no sound');
  const { code, stderr } = await run();
  t.is(code, 1);
  t.regex(stderr, /audio\/b\.wav: .*\n6 files analysed, 1 failed\n$/);
  t.regex(report().notes.join(), /^Recordings left out, since they could not be analysed: 1\./);
});

test('an output folder that cannot be made is one line', async (t) => {
  const { labels } = makeCorpus();
  const { code, stderr } = await runCli(['evaluate', labels, '--out', join(labels, 'in-a-file')]);
  t.is(code, 2);
  t.regex(stderr, /^Expected a folder that can be written for `--out`, got ENOTDIR: [^\n]*\n$/);
});

test('a file of labels that is none is one line', async (t) => {
  const { labels, run } = makeCorpus();
  writeFileSync(labels, 'file,label\na.wav,sad\n');
  const { code, stderr, stdout } = await run();
  t.deepEqual([code, stdout], [2, '']);
  t.regex(stderr, /labels\.csv: Expected a first line with `path`, .*, got file,label\n$/);
});

test('columns that are ignored are named once', async (t) => {
  const { labels, run } = makeCorpus();
  const note = 'Ignored below';
  writeFileSync(labels, `path,label,note\naudio/a.wav,sad,${note}\naudio/b.wav,sad,${note}\n`);
  const { code, stderr } = await run();
  t.deepEqual([code, stderr], [0, `${labels}: ignored columns: note\n2 files analysed, 0 failed\n`]);
});
