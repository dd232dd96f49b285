/** Models without a signal: its status says so, with the reason, and the others are complete. */
import { readFileSync } from 'node:fs';
import test from 'ava';
import { defaultOptions } from '../../src/engine/chunks.ts';
import { combinedReportSchema, reportSchemas, signalReport } from '../../src/engine/report.ts';
import { createAnalyzer } from '../../src/node/models.ts';
import { limits, reporter } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';

const sample = readFileSync('examples/sample.wav');
const { unavailable } = JSON.parse(readFileSync('models/open/emotion/manifest.json', 'utf8'));
const none = { status: 'not_available', reason: unavailable, signals: {}, timeline: [] };

test('a report has the reason and no scores of the signal', async (t) => {
  const report = await (await reporter('models/open'))(sample);
  t.like(report.emotion, none);
  t.is(report.status, 'ok');
  t.is(report.cognitive.status, 'ok');
  t.deepEqual(combinedReportSchema.parse(report), report);
});

test('the report of the signal alone', async (t) => {
  const analyzer = await createAnalyzer({ modelsDir: 'models/open', limits });
  const request = {
    ...defaultOptions,
    audio: sample,
    baselines: [],
    signals: ['emotion'],
    cancel: null,
  } as const;
  const [analysis] = await analyzer.analyze(request);
  t.deepEqual(analysis.results, {}, 'nothing is inferred');
  const report = signalReport('emotion', analysis, 'test');
  t.like(report, none);
  t.deepEqual(reportSchemas.emotion.parse(report), report);
});

test('too little speech is the status of the recording', async (t) => {
  const report = await (await reporter('models/open'))(readFileSync('examples/sample.wav').subarray(0, 4044));
  t.is(report.status, 'insufficient_speech');
  t.is(report.cognitive.status, 'insufficient_speech');
  t.is(report.emotion.status, 'not_available');
});

test('the command says it', async (t) => {
  const text = await runCli(['analyze', '--models', 'open', 'examples/sample.wav']);
  t.is(text.code, 0, text.stderr);
  t.true(text.stdout.includes(`  emotion: not_available: ${unavailable}\n`));
  t.regex(text.stdout, /clarity +0\.\d\d/);
  const csv = await runCli(['analyze', '--models', 'open', '--output', 'csv', 'examples/sample.wav']);
  const [head = '', row = ''] = csv.stdout.split('\n').map((line) => line.split(','));
  const cell = (name: string) => row[head.indexOf(name)];
  t.deepEqual([cell('status'), cell('valence'), cell('dominant_emotion')], ['ok', '', '']);
  t.regex(cell('clarity') ?? '', /^0\./);
});
