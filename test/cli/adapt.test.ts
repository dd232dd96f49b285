/** `undertone adapt` on a corpus that the test makes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'ava';
import { wavFile } from '../../benchmarks/upload-body.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { makeCorpus } from '../support/labelled-corpus.ts';
import { memoize } from '../support/memoize.ts';
import { withoutEmotion } from '../support/models.ts';

/** Of two tests. */
const learnable = memoize<void, ReturnType<typeof makeCorpus>>(() => makeCorpus(300));

test('new labels are learned, and the folder works everywhere', async (t) => {
  const corpus = learnable();
  const out = join(corpus.folder, 'ours');
  const { code, stdout, stderr } = await runCli(['adapt', corpus.train, '--out', out]);
  t.is(code, 0, stderr);
  t.is(stderr, '200 files analysed, 0 failed\n');
  t.regex(stdout, /^UAR of the labels, with weights +0\.000 +(0\.[89]\d*|1\.000) .* yes$/m);
  t.regex(stdout, /ours: 200 recordings of 4 speakers\n$/);
  t.deepEqual(readdirSync(out).sort(), ['cognitive', 'emotion', 'trunk', 'vad', 'voice']);
  t.deepEqual(readdirSync(corpus.folder).sort(), ['audio', 'ours', 'shuffled.csv', 'test.csv', 'train.csv']);
  const { evidence } = JSON.parse(readFileSync(join(out, 'emotion', 'manifest.json'), 'utf8'));
  t.is(evidence.figures.length, 3);
  t.like(evidence.figures[0], { figure: 'UAR of the labels, with weights', speakers: 4, clips: 200 });
  const card = readFileSync(join(out, 'emotion', 'CARD.md'), 'utf8');
  t.regex(card, /^# emotion .*, adapted\n/);
  t.regex(card, /\| train\.csv \| not stated; of whom adapted the model \| 200 \|/);
  t.true(
    readFileSync('models/standard/cognitive/CARD.md').equals(readFileSync(join(out, 'cognitive', 'CARD.md'))),
  );

  const report = join(corpus.folder, 'report');
  const evaluated = await runCli(['evaluate', corpus.test, '--models', out, '--out', report]);
  t.is(evaluated.code, 0, evaluated.stderr);
  const { figures, notes } = JSON.parse(readFileSync(join(report, 'report.json'), 'utf8'));
  const warning = 'The models were adapted to these recordings: their figures do not hold for others.';
  t.false(notes.includes(warning));
  const own = await runCli(['evaluate', corpus.train, '--models', out, '--out', report]);
  t.true(own.stdout.includes(`\n${warning}\n`));
  const recall = figures.find((one: { figure: string }) => one.figure === 'UAR, all labels open');
  t.true(recall.value > 0.8, JSON.stringify(recall));

  const again = await runCli(['adapt', corpus.train, '--models', out, '--out', join(corpus.folder, 'again')]);
  t.is(again.code, 2);
  t.regex(again.stderr, /^Expected models that are not adapted for `--models`, got .*ours, which are\n$/);

  const doctor = await runCli(['doctor'], { env: { UNDERTONE_MODELS_DIR: out } });
  t.regex(doctor.stdout, /models/);
  t.notRegex(doctor.stdout, /emotion probabilities/);
});

test('models without emotion are refused', async (t) => {
  const corpus = makeCorpus(12);
  const models = await withoutEmotion(t);
  const out = join(corpus.folder, 'ours');
  const { code, stderr } = await runCli(['adapt', corpus.train, '--models', models, '--out', out]);
  t.is(code, 2);
  t.is(
    stderr,
    `Expected models with emotion for \`--models\`, got ${models}, which have none: adapt standard, large or fast\n`,
  );
});

test('labels without any relation to the voice are refused, and nothing is written', async (t) => {
  const corpus = learnable();
  const out = join(makeFolder(), 'ours');
  const { code, stdout, stderr } = await runCli(['adapt', corpus.shuffled, '--out', out]);
  t.is(code, 1);
  t.regex(stdout, /^UAR of the labels, with weights /m);
  t.regex(
    stderr,
    /No models are written: nothing improves the scores of speakers left out, or these are no better than chance\n$/,
  );
  t.false(existsSync(out));
});

test('recordings without a speaker, and without speech, are counted', async (t) => {
  const corpus = makeCorpus(60);
  const nameless = join(corpus.folder, 'nameless.csv');
  const lines = readFileSync(corpus.train, 'utf8').trimEnd().split('\n');
  writeFileSync(join(corpus.folder, 'audio', 'silence.wav'), wavFile(new Float32Array(16_000)));
  const rows = [
    'path,label',
    ...lines.slice(1).map((line) => line.replace(/,s\d$/, '')),
    'audio/silence.wav,dull',
  ];
  writeFileSync(nameless, rows.join('\n'));
  const { stderr } = await runCli(['adapt', nameless, '--out', join(corpus.folder, 'ours')]);
  t.regex(stderr, /^41 recordings have no speaker: each counts as a speaker of its own/);
  t.regex(stderr, /\n1 recordings have too little speech and are left out\n/);
});

test('what cannot work is one line', async (t) => {
  const corpus = makeCorpus(12);
  const out = join(corpus.folder, 'ours');
  const few = await runCli(['adapt', corpus.train, '--out', out]);
  t.is(few.code, 2);
  t.regex(few.stderr, /\nExpected 30 or more recordings .*, got 8 with a label, .*\n$/);
  mkdirSync(out, { recursive: true });
  const existing = await runCli(['adapt', corpus.train, '--out', out]);
  t.is(existing.code, 2);
  t.regex(existing.stderr, /^Expected a folder that does not exist for `--out`, got .*ours, which exists\n$/);
});
