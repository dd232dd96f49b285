/** What feature extractors compute of samples, as nodes of a graph. A frame is a product of its samples, so a convolution makes all. */
import type { Frontend } from './description.ts';
import type { GraphWriter } from './graph.ts';

const sampleRate = 16_000;
const frameSamples = 400;
const hopSamples = 160;

/** @param samples [1, n] @returns what the graph reads: [1, n], [1, bins, frames] or [1, frames, bins] */
export function writeFrontend(g: GraphWriter, samples: string, frontend: Frontend): string {
  switch (frontend.kind) {
    case 'samples':
      return frontend.standardised ? standardise(g, samples) : samples;
    case 'whisper':
      return writeWhisper(g, samples, frontend);
    case 'ast':
      return writeAst(g, samples, frontend);
  }
}

/** Wav2Vec2FeatureExtractor with do_normalize. */
function standardise(g: GraphWriter, x: string): string {
  const centred = g.op('Sub', [x, g.reduce('ReduceMean', x, 1)]);
  const variance = g.reduce('ReduceMean', g.op('Mul', [centred, centred]), 1);
  return g.op('Div', [centred, g.op('Sqrt', [g.op('Add', [variance, g.scalar(1e-7)])])]);
}

/** Zeros at the end of an axis, or what is beyond `size` left out. */
export function resize(g: GraphWriter, x: string, axis: number, rank: number, size: number): string {
  return g.op('Slice', [pad(g, x, axis, rank, size), g.integers(0), g.integers(size), g.integers(axis)]);
}

/** Zeros at the end of an axis up to a size. */
export function pad(g: GraphWriter, x: string, axis: number, rank: number, size: number): string {
  const count = g.op('Gather', [g.op('Shape', [x]), g.integers(axis)]);
  const missing = g.op('Max', [g.op('Sub', [g.integers(size), count]), g.integers(0)]);
  const before = g.integers(...new Array<number>(rank + axis).fill(0));
  const parts = [
    before,
    missing,
    ...(axis + 1 < rank ? [g.integers(...new Array<number>(rank - axis - 1).fill(0))] : []),
  ];
  return g.op('Pad', [x, g.op('Concat', parts, { axis: 0 })]);
}

/** [1, n] -> powers of the spectra of its frames, [1, nFft / 2 + 1, frames]. `read`: weight of each sample of a frame in a row. */
function spectra(g: GraphWriter, x: string, nFft: number, read: (row: Float64Array) => Float64Array): string {
  const bins = nFft / 2 + 1;
  const weights = new Float32Array(2 * bins * frameSamples);
  for (let bin = 0; bin < bins; bin++) {
    for (const [part, wave] of [Math.cos, Math.sin].entries()) {
      const row = Float64Array.from({ length: frameSamples }, (_, at) =>
        wave((2 * Math.PI * ((bin * at) % nFft)) / nFft),
      );
      weights.set(read(row), (part * bins + bin) * frameSamples);
    }
  }
  const signal = g.op('Reshape', [x, g.integers(1, 1, -1)]);
  const kernel = g.floats(weights, [2 * bins, 1, frameSamples]);
  const both = g.op('Conv', [signal, kernel], { strides: [hopSamples] });
  const [real, imaginary] = [0, bins].map((from) =>
    g.op('Slice', [both, g.integers(from), g.integers(from + bins), g.integers(1)]),
  ) as [string, string];
  return g.op('Add', [g.op('Mul', [real, real]), g.op('Mul', [imaginary, imaginary])]);
}

function writeWhisper(
  g: GraphWriter,
  samples: string,
  { bins, seconds }: Frontend & { kind: 'whisper' },
): string {
  const count = seconds * sampleRate;
  const whole = resize(g, samples, 1, 2, count);
  const half = frameSamples / 2;
  const reversed = (from: number, to: number) =>
    g.op('Slice', [whole, g.integers(from), g.integers(to), g.integers(1), g.integers(-1)]);
  const reflected = g.op('Concat', [reversed(half, 0), whole, reversed(count - 2, count - 2 - half)], {
    axis: 1,
  });
  const window = hann(frameSamples);
  const power = spectra(g, reflected, frameSamples, (row) =>
    row.map((value, at) => value * (window[at] as number)),
  );
  const frames = count / hopSamples;
  const kept = g.op('Slice', [power, g.integers(0), g.integers(frames), g.integers(2)]);
  const filters = triangles(bins, frameSamples / 2 + 1, { low: 0, high: 8000, scale: slaney, inHertz: true });
  const mel = g.op('MatMul', [g.floats(filters, [bins, frameSamples / 2 + 1]), kept]);
  const log = g.op('Div', [g.op('Log', [g.op('Max', [mel, g.scalar(1e-10)])]), g.scalar(Math.LN10)]);
  const top = g.reduce('ReduceMax', g.reduce('ReduceMax', log, 1), 2);
  const floored = g.op('Max', [log, g.op('Sub', [top, g.scalar(8)])]);
  return g.op('Div', [g.op('Add', [floored, g.scalar(4)]), g.scalar(4)]);
}

function writeAst(
  g: GraphWriter,
  samples: string,
  { bins, frames, mean, deviation }: Frontend & { kind: 'ast' },
): string {
  const nFft = 512;
  const window = hann(frameSamples - 1);
  const power = spectra(g, pad(g, samples, 1, 2, frameSamples), nFft, (row) => {
    const windowed = row.map((value, at) => value * (window[at] ?? 0));
    const emphasised = windowed.map(
      (value, at) => (at === 0 ? 0.03 : 1) * value - 0.97 * (windowed[at + 1] ?? 0),
    );
    const average = emphasised.reduce((sum, value) => sum + value, 0) / frameSamples;
    return emphasised.map((value) => value - average);
  });
  const filters = triangles(bins, nFft / 2 + 1, { low: 20, high: 8000, scale: kaldi, inHertz: false });
  const mel = g.op('MatMul', [g.floats(filters, [bins, nFft / 2 + 1]), power]);
  const log = g.op('Log', [g.op('Max', [mel, g.scalar(1.192092955078125e-7)])]);
  const rows = resize(g, g.op('Transpose', [log], { perm: [0, 2, 1] }), 1, 3, frames);
  return g.op('Div', [g.op('Sub', [rows, g.scalar(mean)]), g.scalar(deviation)]);
}

/** Values of a Hann window whose period is `period` samples: one more than it, the last one zero. */
function hann(period: number): Float64Array {
  return Float64Array.from(
    { length: period + 1 },
    (_, at) => 0.5 - 0.5 * Math.cos((2 * Math.PI * at) / period),
  );
}

type Scale = { readonly toMel: (hertz: number) => number; readonly toHertz: (mel: number) => number };

const kaldi: Scale = {
  toMel: (hertz) => 1127 * Math.log(1 + hertz / 700),
  toHertz: (mel) => 700 * (Math.exp(mel / 1127) - 1),
};
/** Linear to 1 kHz, logarithmic above (Slaney's Auditory Toolbox). */
const slaney: Scale = {
  toMel: (hertz) => (hertz < 1000 ? (3 * hertz) / 200 : 15 + (27 * Math.log(hertz / 1000)) / Math.log(6.4)),
  toHertz: (mel) => (mel < 15 ? (200 * mel) / 3 : 1000 * Math.exp(((mel - 15) * Math.log(6.4)) / 27)),
};

type Bank = {
  readonly low: number;
  readonly high: number;
  readonly scale: Scale;
  /** Triangles are straight in Hz, and of equal area; otherwise straight in mel, and of equal height. */
  readonly inHertz: boolean;
};

/** Mel filters, [bins x spectrum]. */
function triangles(bins: number, spectrum: number, { low, high, scale, inHertz }: Bank): Float32Array {
  const [first, last] = [scale.toMel(low), scale.toMel(high)];
  const edges = Array.from({ length: bins + 2 }, (_, at) => first + ((last - first) * at) / (bins + 1));
  const place = inHertz ? scale.toHertz : (mel: number) => mel;
  const filters = new Float32Array(bins * spectrum);
  for (let bin = 0; bin < bins; bin++) {
    const [left, centre, right] = edges.slice(bin, bin + 3).map(place) as [number, number, number];
    const height = inHertz ? 2 / (right - left) : 1;
    for (let at = 0; at < spectrum; at++) {
      const hertz = (at * sampleRate) / 2 / (spectrum - 1);
      const x = inHertz ? hertz : scale.toMel(hertz);
      const value = Math.min((x - left) / (centre - left), (right - x) / (right - centre));
      filters[bin * spectrum + at] = height * Math.max(0, value);
    }
  }
  return filters;
}
