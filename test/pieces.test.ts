/** Decoding piece by piece: the samples of the whole, whatever the container, in memory that does not grow. */
import { readdirSync } from 'node:fs';
import test from 'ava';
import { decode, isAudioError, openPieces } from '../src/audio.ts';
import { limits } from './support/analysis.ts';
import { fixture, fixturesFolder } from './support/fixtures.ts';
import { toneFile } from './support/upload.ts';

const options = { sampleRate: 16_000, channel: null, limits, cancel: null };

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isAudioError(error)) return error.code;
    throw error;
  }
  return 'none';
}

test('the pieces of every recording are its samples, and its source is told at the end', (t) => {
  const names = readdirSync(fixturesFolder()).filter(
    (name) => !/encrypted|silent-film|\.(txt|json)$/.test(name),
  );
  t.true(names.length > 15);
  for (const name of names) {
    const whole = decode(fixture(name), options);
    const pieces = openPieces(fixture(name), options, 5000);
    const parts: Float32Array[] = [];
    for (let part = pieces.next(); part.length > 0; part = pieces.next()) parts.push(part);
    t.true(
      parts.slice(0, -1).every(({ length }) => length === 5000),
      name,
    );
    t.deepEqual(pieces.source(), whole.source, name);
    const joined = Buffer.concat(parts.map((part) => Buffer.from(part.buffer)));
    t.is(Buffer.compare(joined, Buffer.from(whole.samples.buffer)), 0, name);
    pieces.close();
  }
});

test('a recording says how long it claims to be', (t) => {
  const pieces = openPieces(toneFile(3), options, 16_000);
  pieces.next();
  t.is(pieces.expectedSeconds(), 3);
  pieces.close();
});

test('what the decoder refuses, the pieces refuse', (t) => {
  const code = (bytes: Uint8Array, how = options) => codeOf(() => openPieces(bytes, how, 1000).next());
  t.is(code(new Uint8Array(0)), 'empty');
  t.is(code(Buffer.from('no recording at all, whatever its name says')), 'unsupported');
  t.is(code(toneFile(3), { ...options, limits: { ...limits, seconds: 2 } }), 'too_long');
  const cancel = Int32Array.of(1);
  t.is(
    codeOf(() => openPieces(toneFile(3), { ...options, cancel }, 1000).next()),
    'cancelled',
  );
});

test('a decode that is given up ends, and its pieces are gone', (t) => {
  const pieces = openPieces(toneFile(60), options, 1000);
  t.is(pieces.next().length, 1000);
  pieces.close();
  t.is(codeOf(pieces.next), 'bad_argument');
  pieces.close();
});
