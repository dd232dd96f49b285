/** Chunked decoding: the samples of `decode` for every container, and no access to transferred memory. */
import { readdirSync } from 'node:fs';
import test from 'ava';
import { toneFile } from '../../benchmarks/upload-body.ts';
import { fixture, fixturesFolder } from '../../scripts/recordings.ts';
import { isAudioError } from '../../src/engine/platform.ts';
import { decode, openChannelDecoders, openIncrementalDecoder } from '../../src/node/addon.ts';
import { limits } from '../support/analysis.ts';

const options = { sampleRate: 16_000, channel: null, track: null, limits, cancel: null };

function codeOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (isAudioError(error)) return error.code;
    throw error;
  }
  return 'none';
}

test('the chunks of every recording are its samples, and its source is available with the last', (t) => {
  const names = readdirSync(fixturesFolder()).filter(
    (name) => !/encrypted|silent-film|\.(txt|json)$/.test(name),
  );
  t.true(names.length > 15);
  for (const name of names) {
    const whole = decode(fixture(name), options);
    const decoder = openIncrementalDecoder(fixture(name), options, 5000);
    const parts: Float32Array[] = [];
    while (decoder.source() === null) parts.push(decoder.next());
    t.is(decoder.next().length, 0);
    t.true((parts.at(-1)?.length ?? 0) > 0, name);
    t.true(
      parts.slice(0, -1).every(({ length }) => length === 5000),
      name,
    );
    t.deepEqual(decoder.source(), whole.source, name);
    const joined = Buffer.concat(parts.map((part) => Buffer.from(part.buffer)));
    t.is(Buffer.compare(joined, Buffer.from(whole.samples.buffer)), 0, name);
    decoder.close();
  }
});

test('the decoders of both channels return the samples of each channel, in any order of calls', (t) => {
  const names = readdirSync(fixturesFolder()).filter((name) =>
    /\.(flac|m4a|mp3|ogg|opus|wav|webm)$/.test(name),
  );
  let compared = 0;
  for (const name of names) {
    const whole = decode(fixture(name), { ...options, channel: 0 });
    if (whole.source.channels !== 2 || name.includes('chain')) continue;
    compared++;
    const { channel: _, ...shared } = options;
    const decoders = openChannelDecoders(fixture(name), shared, 5000);
    // The second channel is read first, and to its end: beyond the last samples there are none.
    for (const channel of [1, 0] as const) {
      const parts: Float32Array[] = [];
      const { next, source, close } = decoders[channel];
      for (let part = next(); part.length > 0; part = next()) parts.push(part);
      const joined = Buffer.concat(parts.map((part) => Buffer.from(part.buffer)));
      const alone = decode(fixture(name), { ...options, channel });
      t.is(Buffer.compare(joined, Buffer.from(alone.samples.buffer)), 0, `${name} ${channel}`);
      t.deepEqual(source(), alone.source, name);
      if (channel === 0) close();
    }
  }
  t.true(compared > 5);
});

test('every container declares the duration of the recording', (t) => {
  const names = readdirSync(fixturesFolder()).filter((name) =>
    /\.(flac|m4a|mp3|ogg|opus|wav|webm)$/.test(name),
  );
  let declaring = 0;
  for (const name of names) {
    const decoder = openIncrementalDecoder(fixture(name), options, 16_000);
    let samples = 0;
    let declared: number | null = null;
    for (let part = decoder.next(); part.length > 0; part = decoder.next()) {
      samples += part.length;
      declared = decoder.declaredSeconds();
    }
    decoder.close();
    if (declared === null) continue;
    declaring++;
    const seconds = samples / 16_000;
    t.true(Math.abs(declared - seconds) < 0.1, `${name}: ${declared} s declared, ${seconds} s decoded`);
  }
  t.true(declaring > 5, `${declaring}`);
});

test('a file without a declared duration has none', (t) => {
  const decoder = openIncrementalDecoder(fixture('adts.aac'), options, 16_000);
  decoder.next();
  t.is(decoder.declaredSeconds(), null);
  decoder.close();
});

test('a closed decoder throws, and close is idempotent', (t) => {
  const decoder = openIncrementalDecoder(toneFile(60), options, 1000);
  t.is(decoder.next().length, 1000);
  decoder.close();
  t.is(codeOf(decoder.next), 'bad_argument');
  decoder.close();
});

test('closing does not wait for a chunk', (t) => {
  const chain = Buffer.concat(Array.from({ length: 20 }, () => fixture('vorbis.ogg')));
  const ratios: number[] = [];
  // Waiting would take as long each time; a delay by a busy machine does not repeat each time.
  while (ratios.length < 20 && !ratios.some((ratio) => ratio < 0.5)) {
    const decoder = openIncrementalDecoder(chain, options, 100 * 16_000);
    const started = performance.now();
    decoder.next();
    const decoded = performance.now();
    decoder.close();
    ratios.push((performance.now() - decoded) / (decoded - started));
  }
  t.true(Math.min(...ratios) < 0.5, `${ratios}`);
});

/** Detaches the memory of an array, as a transfer to a thread does. */
function detach(array: Uint8Array | Int32Array): void {
  structuredClone(array, { transfer: [array.buffer as ArrayBuffer] });
}

test('memory that is transferred between chunks is not read', (t) => {
  const bytes = new Uint8Array(toneFile(3));
  const decoder = openIncrementalDecoder(bytes, options, 1000);
  t.is(decoder.next().length, 1000);
  detach(bytes);
  t.is(codeOf(decoder.next), 'bad_argument');
  decoder.close();
  const cancel = new Int32Array(1);
  const other = openIncrementalDecoder(toneFile(3), { ...options, cancel }, 1000);
  detach(cancel);
  t.is(codeOf(other.next), 'bad_argument');
});

test('the cancel flag is read once and its memory is retained', (t) => {
  let reads = 0;
  const decoder = openIncrementalDecoder(
    toneFile(3),
    {
      ...options,
      get cancel() {
        reads += 1;
        return new Int32Array(1);
      },
    },
    1000,
  );
  t.is(reads, 1);
  t.is(decoder.next().length, 1000);
});

test('a getter that transfers the bytes: error instead of a read of detached memory', (t) => {
  const transfer = (bytes: Uint8Array) => ({
    ...options,
    get cancel() {
      detach(bytes);
      return null;
    },
  });
  const whole = new Uint8Array(toneFile(3));
  t.is(
    codeOf(() => decode(whole, transfer(whole))),
    'empty',
  );
  const chunked = new Uint8Array(toneFile(3));
  t.is(
    codeOf(() => openIncrementalDecoder(chunked, transfer(chunked), 1000)),
    'empty',
  );
});

test('a flag that is transferred while options are read is refused', (t) => {
  const cancel = new Int32Array(1);
  const transferring = new Proxy(
    { ...options, cancel },
    {
      ownKeys: (target) => {
        if (cancel.length > 0) detach(cancel);
        return Reflect.ownKeys(target);
      },
    },
  );
  t.is(
    codeOf(() => decode(toneFile(3), transferring)),
    'bad_argument',
  );
});

test('bytes in shared memory are refused', (t) => {
  const shared = new Uint8Array(new SharedArrayBuffer(1000));
  t.is(
    codeOf(() => decode(shared, options)),
    'bad_argument',
  );
});
