/** Random calls of the addon: each returns or throws an error, whatever the values, handles and freed arrays. */
import { createRequire } from 'node:module';
import test from 'ava';
import { fixture } from '../../scripts/recordings.ts';
import { addonFile, release, trackProsody } from '../../src/node/addon.ts';
import { specs } from '../../src/node/feature-specs.ts';
import { createPrng } from '../reliability/support/prng.ts';
import { limits } from '../support/analysis.ts';

type Call = (...args: unknown[]) => unknown;

const addon: Readonly<Record<string, unknown>> = createRequire(import.meta.url)(addonFile);
const calls = Object.entries(addon).filter(
  (entry): entry is [string, Call] => typeof entry[1] === 'function',
);
/** More under sanitizers. */
const count = Number(process.env.UNDERTONE_RANDOM_CALLS ?? 3000);

const { next, below, oneIn, pick } = createPrng(1);
const numbers = [
  Number.NaN,
  -1,
  0,
  0.5,
  1,
  2,
  3,
  7,
  160,
  400,
  16_000,
  2 ** 31,
  1e300,
  Number.POSITIVE_INFINITY,
];
const words = ['', 'hann', 'none', 'log', 'e', '10', 'power', 'reflect-center', '\ud800'];
const recordings = ['opus.webm', 'gap.ogg', 'late-fragments.mp4', 'cbr.mp3', 's24.wav'].map((name) =>
  Uint8Array.from(fixture(name)),
);

/** The handles of both kinds that calls returned, open and closed. */
const handles: unknown[] = [null];

function samples(): Float32Array {
  const length = pick([0, 1, 2, 400, 1601, 16_000]);
  const array = Float32Array.from({ length }, () => (oneIn(500) ? pick(numbers) : next() - 0.5));
  return oneIn(10) ? array.subarray(below(length + 1)) : array;
}

function bytes(): Uint8Array {
  const recording = pick(recordings);
  const copy = recording.slice(0, oneIn(2) ? recording.length : below(recording.length));
  for (let at = 0; at < 3; at++) copy[below(copy.length)] = below(256);
  return copy;
}

const throwing = new Proxy(
  {},
  {
    get() {
      throw new TypeError('a getter');
    },
  },
);
const oddValues: readonly (() => unknown)[] = [
  () => pick(numbers),
  () => pick(words),
  () => pick([null, undefined, true, 10n, Symbol('a symbol'), () => 1, throwing, [], {}]),
  () => pick(handles),
  () => new Float64Array(below(40)).fill(pick(numbers)),
  () => new Float32Array(new SharedArrayBuffer(4 * below(500))),
  () => new Uint8Array(new SharedArrayBuffer(below(500))),
  () => new Int32Array(below(2)),
  () => new DataView(new ArrayBuffer(8)),
  () => structuredClone(samples()),
  detached,
];

function detached(): Float32Array {
  const array = new Float32Array(16);
  structuredClone(array, { transfer: [array.buffer] });
  return array;
}

/** With one value in five of another kind. */
function altered<Options extends object>(options: Options): Options {
  if (oneIn(2)) return options;
  return { ...options, [pick([...Object.keys(options), 'other'])]: pick(oddValues)() };
}

const decodeOptions = () =>
  altered({
    sampleRate: 16_000,
    channel: pick([null, null, 0, 1]),
    track: pick([null, null, 0, 1]),
    limits: altered(limits),
    cancel: pick([null, new Int32Array(1), new Int32Array(new SharedArrayBuffer(4))]),
  });
const handle = () => pick(handles);
const stream = () => altered({ sampleRate: 16_000, hopLength: 160, highpassHz: pick([undefined, 64]) });

/** What each call takes. */
const expected: Readonly<Record<string, readonly (() => unknown)[]>> = {
  decode: [bytes, decodeOptions],
  openIncrementalDecoder: [bytes, decodeOptions, () => pick([1, 400, 16_000])],
  openChannelDecoder: [bytes, decodeOptions, () => pick([1, 400, 16_000])],
  decodeNext: [handle],
  closeIncrementalDecoder: [handle],
  createExtractor: [() => altered(pick(Object.values(specs)))],
  extract: [samples, handle],
  measureSignalQuality: [samples, () => 16_000, () => Float64Array.of(next(), next())],
  filterStream: [samples, () => new Float64Array(0), stream],
  temporalCentroid: [samples],
  trackProsody: [samples, () => 16_000],
  release: [() => pick([samples, bytes])()],
};

test('random values, handles and freed arrays are results or errors', async (t) => {
  const returned = new Map<string, number>();
  const running: Promise<unknown>[] = [];
  for (let at = 0; at < count; at++) {
    const [name, call] = pick(calls);
    const args = (expected[name] ?? []).map((make) => (oneIn(8) ? pick(oddValues)() : make()));
    if (oneIn(20)) args.length = below(args.length + 1);
    try {
      const result = call(...args);
      returned.set(name, (returned.get(name) ?? 0) + 1);
      if (typeof result === 'object' && result !== null && Object.keys(result).length === 0)
        handles.push(result);
      if (result instanceof Promise) running.push(result);
    } catch (error) {
      if (!(error instanceof Error)) throw error;
    }
    // What a call still reads may be freed by the next one.
    const [first] = args;
    if (oneIn(4) && (first instanceof Float32Array || first instanceof Uint8Array)) tryRelease(first);
    if (handles.length > 40) handles.splice(below(handles.length), 1);
    if (running.length > 20) await Promise.allSettled(running.splice(0));
  }
  t.deepEqual([...returned.keys()].sort(), Object.keys(expected).sort(), 'each call succeeded');
});

function tryRelease(array: Float32Array | Uint8Array): void {
  try {
    release(array);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
}

test('an array that is freed while its pitch is tracked is read whole', async (t) => {
  const tone = () => Float32Array.from({ length: 16_000 * 20 }, (_, at) => Math.sin(at / 20));
  const { pitchHz: pitch } = await trackProsody(tone(), 16_000);
  const tracks = Array.from({ length: 8 }, () => {
    const array = tone();
    const track = trackProsody(array, 16_000);
    release(array.subarray(1));
    new Float32Array(array.length).fill(1);
    return track;
  });
  for (const { pitchHz } of await Promise.all(tracks)) {
    t.true(pitchHz.every((hertz, frame) => hertz === pitch[frame]));
  }
  const freed = tone();
  await trackProsody(freed, 16_000);
  release(freed);
  t.is(freed.length, 0);
});
