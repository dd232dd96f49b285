/** Replays a seeded synthetic signal through every model, which detects a wrong model or feature spec. */

import { z } from 'zod';
import { filterbanksOf, type Models } from './loader.ts';
import type { Kind, Manifest } from './manifest.ts';
import { type FeatureSpec, ModelError, type Platform, type Tensor, type Values } from './platform.ts';
import { uniform } from './random.ts';
import { type Signal, signals } from './signals/table.ts';

export const syntheticSampleRate = 16_000;
const keptValues = 16;
/** With seed 1 a wrong feature spec hardly changes clarity. */
const goldenSignal = { seed: 2, seconds: 2 };
const tolerance = 1e-3;

export const goldenSchema = z.strictObject({
  signal: z.strictObject({ seed: z.int(), seconds: z.number().positive() }),
  /** SHA-256 of the signal's samples as little-endian float32. */
  digest: z.string(),
  /** Labels of the model's probabilities, in order. */
  labels: z.array(z.string()).nullable(),
  outputs: z.record(z.string(), z.strictObject({ shape: z.array(z.int()), values: z.array(z.number()) })),
  tolerance: z.number().positive(),
});
export type Golden = z.infer<typeof goldenSchema>;
type Outputs = Record<string, Golden['outputs']>;

/**
 * Noise through a two-pole resonance, switched on and off five times a second. Integer noise and basic arithmetic give
 * the same bits on every machine and Node.js version.
 * @returns mono samples at 16 kHz in [-1, 1]
 */
export function syntheticSignal(seed: number, seconds: number): Float32Array {
  const samples = new Float32Array(Math.round(seconds * syntheticSampleRate));
  const random = uniform(seed);
  let last = 0;
  let beforeLast = 0;
  for (let index = 0; index < samples.length; index++) {
    const noise = 2 * random() - 1;
    const open = Math.floor(index / 1600) % 2 === 0 ? 1 : 0.05;
    const value = 1.8 * last - 0.9 * beforeLast + 0.01 * open * noise;
    beforeLast = last;
    last = value;
    samples[index] = Math.max(-1, Math.min(1, value));
  }
  return samples;
}

function digest(samples: Float32Array, { createSha256 }: Platform): string {
  const hash = createSha256();
  hash.update(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
  return hash.digest();
}

/**
 * Runs all models over one signal; every token has weight 1.
 * @throws ModelError when the number of tokens differs from the manifest
 */
export async function replay(models: Models, samples: Float32Array): Promise<Outputs> {
  const read = (spec: FeatureSpec): Values => {
    const { data, frames, bins } = models.platform.extract(samples, spec);
    return { data, shape: [1, frames, bins] };
  };
  const { manifest } = models.trunk;
  const spec = filterbanksOf(manifest);
  const features = read(manifest.features);
  const filterbanks = spec && { filterbanks: read(spec) };
  const trunk = await models.trunk.session.run({
    ...(manifest.inputs.includes('features') && { features }),
    ...filterbanks,
    ...(models.readsSamples && { samples: { data: samples, shape: [1, samples.length] } }),
  });
  const tokens = trunk.tokens as Values;
  const frames = features.shape[1] as number;
  const count = Math.ceil(frames / manifest.params.framesPerToken);
  if (tokens.shape[1] !== count)
    throw new ModelError(`Model trunk: Expected ${count} tokens of ${frames} frames, got ${tokens.shape[1]}`);
  const weights: Values = { data: new Float32Array(count).fill(1), shape: [1, count] };
  const state: Values = { data: models.silentVad, shape: [1, models.silentVad.length] };
  const outputs: Outputs = {
    vad: summarise(await models.vad.session.run({ features, state })),
    trunk: summarise(trunk),
  };
  for (const signal of signals) {
    const inputs = { tokens, weights, ...sumsOf(models[signal].manifest) };
    outputs[signal] = summarise(await models[signal].session.run(inputs));
  }
  return outputs;
}

/** Outputs of the voice model, of the whole signal as one window; it is not part of `replay`, since few requests need it. */
async function replayVoice({ voice, platform }: Models, samples: Float32Array): Promise<Golden['outputs']> {
  const { manifest, load } = voice as NonNullable<Models['voice']>;
  const { data, frames, bins } = platform.extract(samples, manifest.features);
  const count = Math.ceil(frames / manifest.params.framesPerEmbedding);
  const weights: Values = { data: new Float32Array(count).fill(1), shape: [1, count] };
  const { base, rest } = await load();
  const { frames: read } = await base.run({ filterbanks: { data, shape: [1, frames, bins] } });
  return summarise(await rest.run({ frames: read as Tensor, weights }));
}

/** Zeros for a head that adds up utterances, whose parameters say how many. */
function sumsOf({ params }: Models[Signal]['manifest']): Record<string, Values> {
  const { poolingSums: count } = params as { readonly poolingSums?: number };
  return count === undefined ? {} : { sums: { data: new Float32Array(count), shape: [1, count] } };
}

/** The golden of each model, by name. */
export async function goldensOf(models: Models): Promise<Record<string, Golden>> {
  const samples = syntheticSignal(goldenSignal.seed, goldenSignal.seconds);
  const outputs: Outputs = {
    ...(await replay(models, samples)),
    ...(models.voice && { voice: await replayVoice(models, samples) }),
  };
  return Object.fromEntries(
    models.manifests.map(({ kind, name, labels }) => {
      const kept = { labels: labels && [...labels], outputs: outputs[kind] ?? {}, tolerance };
      return [name, { signal: goldenSignal, digest: digest(samples, models.platform), ...kept }];
    }),
  );
}

/** One sentence per difference between a model's outputs and its golden; none for the weights that it was made with. */
export async function goldenDifferences(models: Models, golden: Golden, name: Kind): Promise<string[]> {
  const samples = syntheticSignal(golden.signal.seed, golden.signal.seconds);
  const outputs =
    name === 'voice'
      ? await replayVoice(models, samples)
      : ((await replay(models, samples))[name] as Golden['outputs']);
  const { labels } = models.manifests.find(({ kind }) => kind === name) as Manifest;
  return [
    ...different(`${name} signal`, golden.digest, digest(samples, models.platform)),
    ...different(`${name} labels`, golden.labels, labels),
    ...different(`${name} outputs`, Object.keys(golden.outputs).sort(), Object.keys(outputs).sort()),
    ...Object.entries(golden.outputs).flatMap(([output, expected]) => [
      ...different(`${name} ${output} shape`, expected.shape, outputs[output]?.shape),
      ...expected.values.flatMap((value, index) => {
        const got = outputs[output]?.values[index] ?? Number.NaN;
        return Math.abs(got - value) <= golden.tolerance
          ? []
          : [`${name} ${output}[${index}]: ${got}, not ${value}`];
      }),
    ]),
  ];
}

function different(what: string, expected: unknown, got: unknown): string[] {
  const [wanted, came] = [JSON.stringify(expected), JSON.stringify(got)];
  return wanted === came ? [] : [`${what}: ${came}, not ${wanted}`];
}

/** Of bytes, the shape alone: a last bit of the values before them may change one. */
function summarise(outputs: Record<string, Tensor>): Golden['outputs'] {
  const kept: Golden['outputs'] = {};
  for (const [name, { data, shape }] of Object.entries(outputs)) {
    kept[name] = {
      shape: [...shape],
      values: data instanceof Float32Array ? [...data.subarray(0, keptValues)] : [],
    };
  }
  return kept;
}
