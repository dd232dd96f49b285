import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import test from 'ava';
import type { FeatureSpec } from '../../src/engine/platform.ts';
import { decode, extract, trackProsody } from '../../src/node/addon.ts';
import { prosody, specs } from '../../src/node/feature-specs.ts';
import { parseConfig } from '../../src/service/config.ts';
import { runCli } from '../support/cli.ts';
import { makeFolder } from '../support/folder.ts';
import { readNpy } from '../support/npy.ts';

const sample = resolve('examples/sample.wav');

function decodeFile(path: string, sampleRate: number) {
  const { limits } = parseConfig({});
  return decode(fs.readFileSync(path), { sampleRate, channel: null, track: null, limits, cancel: null });
}

function expectedOf(path: string, spec: FeatureSpec) {
  const { samples } = decodeFile(path, spec.sampleRate);
  const { data, frames, bins } = extract(samples, spec);
  return { shape: [frames, bins], data };
}

for (const name of ['whisper-log-mel-80', 'kaldi-mfcc-13'] as const) {
  test(`writes what extract gives: ${name}`, async (t) => {
    const out = join(makeFolder(), 'sample.npy');
    const { code, stdout, stderr } = await runCli(['features', sample, '--spec', name, '--out', out]);
    t.deepEqual([code, stdout], [0, '']);
    t.regex(stderr, /^1 file, 0 failed, \d+ frames in \d+\.\d s\n$/);
    t.deepEqual(readNpy(out), expectedOf(sample, specs[name]));
  });
}

test('writes pitch, level and tilt: prosody', async (t) => {
  const out = join(makeFolder(), 'sample.npy');
  t.is((await runCli(['features', sample, '--spec', 'prosody', '--out', out])).code, 0);
  const { samples } = decodeFile(sample, 16_000);
  const { pitchHz, levelDb, tiltDb } = await trackProsody(samples, 16_000);
  const { shape, data } = readNpy(out);
  t.deepEqual(shape, [pitchHz.length, 3]);
  for (const [frame, pitch] of pitchHz.entries())
    t.deepEqual([...data.subarray(3 * frame, 3 * frame + 3)], [pitch, levelDb[frame], tiltDb[frame]]);
  t.true(pitchHz.some((pitch) => pitch > 0));
});

test('a custom spec, several files, one of them malformed', async (t) => {
  const folder = makeFolder();
  const spec = { ...(specs['whisper-log-mel-80'] as FeatureSpec), nMels: 40 };
  fs.writeFileSync(join(folder, 'mine.json'), JSON.stringify(spec));
  fs.copyFileSync(sample, join(folder, 'a.wav'));
  fs.writeFileSync(join(folder, 'b.wav'), 'no sound');
  fs.copyFileSync(sample, join(folder, 'c.wav'));
  const files = ['a.wav', 'b.wav', 'c.wav'];
  const { code, stderr } = await runCli(
    ['features', ...files, '--spec', 'mine.json', '--out', 'new/out', '--jobs', '2'],
    { cwd: folder },
  );
  t.is(code, 1);
  const lines = stderr.trimEnd().split('\n');
  t.true(lines[0]?.startsWith(`${join(folder, 'b.wav')}: Expected an audio file, got`), stderr);
  t.regex(lines[1] as string, /^3 files, 1 failed/);
  t.deepEqual(fs.readdirSync(join(folder, 'new/out')).sort(), ['a.npy', 'c.npy']);
  t.deepEqual(readNpy(join(folder, 'new/out/c.npy')), expectedOf(sample, spec));
});

test('a list of pairs', async (t) => {
  const folder = makeFolder();
  fs.writeFileSync(join(folder, 'pairs.tsv'), `${sample}\tx/1.npy\n${sample}\ty/1.npy\n`);
  const { code } = await runCli(['features', '--list', 'pairs.tsv', '--spec', 'kaldi-log-mel-80'], {
    cwd: folder,
  });
  t.is(code, 0);
  t.deepEqual(readNpy(join(folder, 'x/1.npy')), readNpy(join(folder, 'y/1.npy')));
});

test('a recording on standard input', async (t) => {
  const folder = makeFolder();
  const args = ['features', '-', '--spec', 'kaldi-mfcc-13', '--out', 'out'];
  const { code, stderr } = await runCli(args, { cwd: folder, input: fs.readFileSync(sample) });
  t.is(code, 0, stderr);
  t.deepEqual(
    readNpy(join(folder, 'out/stdin.npy')),
    expectedOf(sample, specs['kaldi-mfcc-13'] as FeatureSpec),
  );
});

const names = [...Object.keys(specs), prosody].join(', ');
const misuses: readonly [args: string[], message: string][] = [
  [['a.wav', '--spec', 'mel', '--out', 'x'], `Expected ${names} or a .json file for \`--spec\`, got "mel"`],
  [
    ['a.wav', '--spec', 'toString', '--out', 'x'],
    `Expected ${names} or a .json file for \`--spec\`, got "toString"`,
  ],
  [['--spec', 'kaldi-mfcc-13', '--out', 'x'], 'Expected at least one recording for `file`, got none'],
  [['a.wav', '--spec', 'kaldi-mfcc-13'], 'Expected a folder or a .npy file for `--out`, got nothing'],
  [
    ['a.wav', 'b.wav', '--spec', 'kaldi-mfcc-13', '--out', 'x.npy'],
    'Expected a folder for `--out`, got x.npy for 2 recordings',
  ],
  [
    ['a.wav', '--list', 'l', '--spec', 'kaldi-mfcc-13'],
    'Expected no recordings and no --out with it for `--list`, got l',
  ],
  [
    ['a.wav', 'a.mp3', '--spec', 'kaldi-mfcc-13', '--out', '/x'],
    'Expected recordings with different outputs for `file`, got two for /x/a.npy',
  ],
];

for (const [args, message] of misuses) {
  test(message, async (t) => {
    const { code, stdout, stderr } = await runCli(['features', ...args], { cwd: makeFolder() });
    t.deepEqual({ code, stdout, stderr }, { code: 2, stdout: '', stderr: `${message}\n` });
  });
}

test('an incomplete spec is refused before any file is read', async (t) => {
  const folder = makeFolder();
  const { hopLength: _, ...rest } = specs['kaldi-mfcc-13'] as FeatureSpec;
  fs.writeFileSync(join(folder, 'mine.json'), JSON.stringify(rest));
  const { code, stderr } = await runCli(['features', sample, '--spec', 'mine.json', '--out', 'x'], {
    cwd: folder,
  });
  t.is(code, 2);
  t.regex(stderr, /^Expected a whole feature spec for `--spec`, got mine\.json: .*hopLength/);
  t.deepEqual(fs.readdirSync(folder), ['mine.json']);
});
