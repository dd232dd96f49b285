import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import test from 'ava';
import * as undertone from '../src/tools/index.ts';
import { analyze, decode, extract, Failure, specs } from '../src/tools/index.ts';
import { sources } from './support/documents.ts';

const limits = { seconds: 60, channels: 2, minSampleRate: 4000, maxSampleRate: 96_000, deadlineSeconds: 0 };
const sample = await readFile('examples/sample.wav');

test('every function of the package has an example', (t) => {
  const text = sources.map((file) => readFileSync(file, 'utf8')).join('\n');
  const described = text.matchAll(/@example(?:(?!\*\/).)*\*\/\nexport (?:function|class) (\w+)/gs);
  const exported = Object.entries(undertone).filter(([, value]) => typeof value === 'function');
  t.deepEqual([...described].map(([, name]) => name).sort(), exported.map(([name]) => name).sort());
});

test('decode and extract', (t) => {
  const audio = decode(sample, { sampleRate: 16_000, channel: null, track: null, limits, cancel: null });
  t.is(audio.samples.length, Math.round(audio.seconds * 16_000));
  const spec = specs['whisper-log-mel-80'];
  const { data, frames, bins } = extract(audio.samples, spec);
  t.deepEqual([frames, bins, data.length], [Math.floor(audio.samples.length / 160), 80, frames * 80]);
});

test('decode needs nothing but bytes', (t) => {
  const all = { sampleRate: 16_000, channel: null, track: null, limits, cancel: null };
  t.deepEqual(decode(sample), decode(sample, all));
  t.throws(() => decode(sample, { limits: { seconds: 1 } }), { code: 'too_long' });
});

test('analyze returns both reports, or the requested one', async (t) => {
  const [both, emotion] = await Promise.all([analyze(sample), analyze(sample, { signals: ['emotion'] })]);
  t.deepEqual(Object.keys(both), ['emotion', 'cognitive', 'audio', 'segments']);
  t.deepEqual(Object.keys(emotion), ['emotion', 'audio', 'segments']);
  t.deepEqual(emotion.emotion, both.emotion);
  t.is(both.cognitive?.relative, false);
});

test('a failed call does not affect the next', async (t) => {
  const broken = analyze(new Uint8Array(0));
  const fine = analyze(sample, { limits: { ...limits, seconds: 1 } });
  const missing = analyze(sample, { modelsDir: '/nowhere' });
  t.is(
    (await t.throwsAsync<Failure>(broken, { instanceOf: Failure })).items[0]?.type,
    'value_error.audio.empty',
  );
  const failure = await t.throwsAsync<Failure>(fine, { instanceOf: Failure });
  t.is(failure.items[0]?.type, 'value_error.audio.too_long');
  await t.throwsAsync(missing, { message: /^Expected a folder of models/ });
  await t.notThrowsAsync(analyze(sample));
});
