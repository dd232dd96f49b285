/** Opens models from the bytes of their files and throws on every mismatch. */
import { z } from 'zod';
import { correctHead } from './correction.ts';
import { correctionOf, type Kind, type Manifest, type ManifestOf, manifestSchema } from './manifest.ts';
import {
  type FeatureSpec,
  ModelError,
  type Platform,
  type Session,
  type StreamFilterOptions,
  type Values,
} from './platform.ts';
import { definitions, type Signal, signals } from './signals/table.ts';
import { settleVad } from './speech.ts';

export type Model<K extends Kind> = { readonly manifest: ManifestOf<K>; readonly session: Session };

/** One model of each kind; `trunk` and `vad` read the same features. */
export type Models = {
  /** Those of the whole set, which was loaded. */
  readonly manifests: readonly Manifest[];
  /** How samples are filtered, once, before features are extracted of any part of them. */
  readonly filter: StreamFilterOptions;
  /** Without `highpassHz`, which is in `filter`. */
  readonly features: FeatureSpec;
  /** Those that the trunk reads beside them; null when it does not. */
  readonly filterbanks: FeatureSpec | null;
  /** The features of a frame of digital silence. */
  readonly silence: Float32Array;
  /** State of the VAD model after endless silence: that before a recording. */
  readonly silentVad: Float32Array;
  /** Voices of utterances; null when the params of the trunk have no `severalSpeakers`. */
  readonly voice: Session | null;
  /** What runs them. */
  readonly platform: Platform;
} & { readonly [K in Kind]: Model<K> };

export type ModelBytes = {
  readonly manifest: Manifest;
  /** Those that the manifest names, which have its hashes, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
};

/** Inputs and outputs of the graph of each kind. */
const graphs: Readonly<Record<Kind, Pick<Session, 'inputs' | 'outputs'>>> = {
  vad: { inputs: ['features', 'state'], outputs: ['speech', 'syllable_rate', 'voice', 'next_state'] },
  trunk: { inputs: ['features'], outputs: ['tokens'] },
  ...definitions,
};

/** A trunk with filterbanks may do without features. */
function graphOf(manifest: Manifest): Pick<Session, 'inputs' | 'outputs'> {
  const { inputs, outputs } = graphs[manifest.kind];
  if (filterbanksOf(manifest) === null) return { inputs, outputs };
  return { inputs: [...inputs.filter((name) => manifest.inputs.includes(name)), 'filterbanks'], outputs };
}

function filterbanksOf(manifest: Manifest): FeatureSpec | null {
  return (manifest.kind === 'trunk' && manifest.params.filterbanks) || null;
}

/**
 * Reads a model and checks it against its manifest.
 * @param name of its folder
 * @param manifestJson of manifest.json
 * @param read returns the bytes of a file of the model
 * @throws ModelError with the model, the expected and the actual value
 */
export async function readModel(
  name: string,
  manifestJson: unknown,
  read: (file: string) => Promise<Uint8Array>,
  platform: Platform,
): Promise<ModelBytes> {
  const manifest = parseManifest(name, manifestJson);
  const files = new Map<string, Uint8Array>();
  const add = async (field: string, reference: Manifest['weights'] | null) => {
    if (reference === null) return;
    const { file, sha256 } = reference;
    const bytes = await read(file);
    const hash = platform.createSha256();
    hash.update(bytes);
    expectEqual(name, `${field}.sha256`, sha256, hash.digest());
    files.set(file, bytes);
  };
  await add('weights', manifest.weights);
  await add('weights', voiceOf(manifest));
  await add('correction', correctionOf(manifest));
  expectEqual(name, 'name', name, manifest.name);
  expectEqual(name, 'featuresVersion', platform.featuresVersion, manifest.featuresVersion);
  const { inputs, outputs } = graphOf(manifest);
  expectEqual(name, 'inputs', inputs, manifest.inputs);
  expectEqual(name, 'outputs', outputs, manifest.outputs);
  if (manifest.features !== null) checkFeatures(name, manifest.features, platform);
  checkFilterbanks(name, manifest, platform);
  return { manifest, files };
}

function voiceOf(manifest: Manifest): Manifest['weights'] | null {
  return (manifest.kind === 'trunk' && manifest.params.severalSpeakers?.weights) || null;
}

/** @param set every model of a set: see `checkSet` @throws ModelError */
export async function openModels(set: readonly ModelBytes[], platform: Platform): Promise<Models> {
  const models = await Promise.all(kinds.map(async (kind) => [kind, await open(set, kind, platform)]));
  const byName = Object.fromEntries(models) as { readonly [K in Kind]: Model<K> };
  const specs = specsOf(byName.trunk.manifest.features, filterbanksOf(byName.trunk.manifest));
  const voice = await openVoice(bytesOf(set, 'trunk'), platform);
  const silence = silentFrame(specs.features, platform);
  const manifests = set.map(({ manifest }) => manifest);
  const silentVad = await settleVad({ vad: byName.vad, silence, platform });
  return { manifests, ...specs, silence, silentVad, voice, platform, ...byName };
}

/** @param filterbanks has the sample rate, hop and high-pass of `features` */
function specsOf(features: FeatureSpec, filterbanks: FeatureSpec | null) {
  const { sampleRate, hopLength, highpassHz } = features;
  const withoutHighpass = ({ highpassHz: _, ...spec }: FeatureSpec): FeatureSpec => spec;
  return {
    filter: { sampleRate, hopLength, ...(highpassHz !== undefined && { highpassHz }) },
    features: withoutHighpass(features),
    filterbanks: filterbanks && withoutHighpass(filterbanks),
  };
}

/**
 * The trunk is half of a request: with idle cores it runs on `threads` threads. Under load these would take processor time
 * from other requests.
 * @throws ModelError
 */
export async function openModelsForCores(
  set: readonly ModelBytes[],
  threads: number,
  platform: Platform,
): Promise<{ readonly busy: Models; readonly idle: Models }> {
  const busy = await openModels(set, platform);
  return {
    busy,
    idle: threads === 1 ? busy : { ...busy, trunk: await open(set, 'trunk', platform, threads) },
  };
}

/** What cuts and encodes utterances. */
export type Encoder = Pick<
  Models,
  'filter' | 'features' | 'filterbanks' | 'silence' | 'silentVad' | 'vad' | 'platform'
> & {
  readonly trunk: Model<'trunk'> | null;
};

/** Opens a VAD model and a trunk alone; null: no trunk. @throws ModelError */
export async function openEncoder(
  vadBytes: ModelBytes,
  trunkBytes: ModelBytes | null,
  platform: Platform,
): Promise<Encoder> {
  const vad = await open([vadBytes], 'vad', platform);
  const trunk = trunkBytes === null ? null : await open([trunkBytes], 'trunk', platform);
  const specs = specsOf(vad.manifest.features, trunk && filterbanksOf(trunk.manifest));
  const silence = silentFrame(specs.features, platform);
  return {
    ...specs,
    silence,
    silentVad: await settleVad({ vad, silence, platform }),
    vad,
    trunk,
    platform,
  };
}

function silentFrame(spec: FeatureSpec, { extract }: Platform): Float32Array {
  const { data, bins } = extract(new Float32Array(spec.winLength), spec);
  return data.slice(0, bins);
}

function parseManifest(name: string, json: unknown): Manifest {
  const { data, error } = manifestSchema.safeParse(json);
  if (data !== undefined) return data;
  const { issues } = error;
  const found = issues.map(({ message, path }) =>
    path.length > 0 ? `${message} at ${path.join('.')}` : message,
  );
  const isLater = issues.some(({ code }) => code === 'unrecognized_keys' || code === 'invalid_union');
  const advice = isLater ? ': a later version of undertone may have made it' : '';
  throw new ModelError(`Model ${name}: manifest.json: ${found.join('; ')}${advice}`);
}

function checkFeatures(name: string, spec: FeatureSpec, { extract }: Platform): void {
  try {
    extract(new Float32Array(0), spec);
  } catch (error) {
    throw new ModelError(`Model ${name}: features: ${(error as Error).message}`);
  }
}

/** Their frames are those of the features. */
function checkFilterbanks(name: string, manifest: Manifest, platform: Platform): void {
  const [features, spec] = [manifest.features, filterbanksOf(manifest)];
  if (features === null || spec === null) return;
  checkFeatures(name, spec, platform);
  for (const field of ['sampleRate', 'hopLength', 'highpassHz'] as const)
    expectEqual(name, `filterbanks.${field}`, features[field], spec[field]);
  // Padding decides it too.
  const second = new Float32Array(features.sampleRate);
  const framesBy = (one: FeatureSpec): number => platform.extract(second, one).frames;
  expectEqual(name, 'frames of filterbanks', framesBy(features), framesBy(spec));
}

/** A set has one model of each kind, and its heads have the trunk of their training. @throws ModelError */
export function checkSet(manifests: readonly Manifest[]): void {
  for (const kind of kinds) {
    const count = manifests.filter((manifest) => manifest.kind === kind).length;
    if (count !== 1) throw new ModelError(`Expected one model of kind ${kind}, got ${count}`);
  }
  const trunk = manifests.find((manifest) => manifest.kind === 'trunk') as ManifestOf<'trunk'>;
  const pinned = { name: trunk.name, version: trunk.version, sha256: trunk.weights.sha256 };
  for (const manifest of manifests) {
    if (manifest.trunk !== null) expectEqual(manifest.name, 'trunk', pinned, manifest.trunk);
    if (manifest.features !== null) expectEqual(manifest.name, 'features', trunk.features, manifest.features);
  }
}

async function open<K extends Kind>(
  set: readonly ModelBytes[],
  kind: K,
  platform: Platform,
  threads = 1,
): Promise<Model<K>> {
  const model = bytesOf(set, kind);
  const { manifest } = model;
  const session = await openGraph(model, manifest.weights.file, manifest, platform, threads);
  return { manifest, session: openCorrection(model, session) };
}

function openCorrection({ manifest, files }: ModelBytes, session: Session): Session {
  const correction = correctionOf(manifest);
  if (correction === null) return session;
  const { file } = correction;
  const { intervals = {} } = manifest.params as { readonly intervals?: object };
  try {
    const json = JSON.parse(new TextDecoder().decode(files.get(file)));
    return correctHead(session, json, { labels: manifest.labels, scores: Object.keys(intervals) });
  } catch (error) {
    throw new ModelError(`Model ${manifest.name}: ${file}: ${(error as Error).message}`);
  }
}

function bytesOf<K extends Kind>(set: readonly ModelBytes[], kind: K) {
  return set.find(({ manifest }) => manifest.kind === kind) as ModelBytes & { manifest: ManifestOf<K> };
}

function openVoice(model: ModelBytes, platform: Platform): Promise<Session> | null {
  const voice = voiceOf(model.manifest);
  const graph = { inputs: ['tokens', 'weights'], outputs: ['voice'] };
  return voice && openGraph(model, voice.file, graph, platform);
}

async function openGraph(
  { manifest: { name: model }, files }: ModelBytes,
  file: string,
  { inputs, outputs }: Pick<Session, 'inputs' | 'outputs'>,
  { openSession }: Platform,
  threads = 1,
): Promise<Session> {
  const session = await openSession(files.get(file) as Uint8Array, threads).catch((error: unknown) => {
    throw new ModelError(
      `Model ${model}: Expected a self-contained ONNX file for ${file}, got: ${String(error)}`,
    );
  });
  expectEqual(model, 'inputs of the graph', inputs, session.inputs);
  expectEqual(model, 'outputs of the graph', outputs, session.outputs);
  const run: Session['run'] = (values) =>
    session.run(values).catch((error: unknown) => {
      throw new ModelError(`Model ${model}: Expected a graph that runs in ${file}, got: ${String(error)}`);
    });
  return { ...session, run };
}

/** Objects have the order of their schema. */
function expectEqual(model: string, field: string, expected: unknown, got: unknown): void {
  const [one, other] = [JSON.stringify(expected), JSON.stringify(got)];
  if (one !== other) throw new ModelError(`Model ${model}: Expected ${one} for \`${field}\`, got ${other}`);
}

// Replays a seeded synthetic signal through every model, which detects a wrong model or feature spec.

const sampleRate = 16000;
const keptValues = 16;
/** With seed 1 a wrong feature spec hardly changes clarity. */
const goldenSignal = { seed: 2, seconds: 2 };
const tolerance = 1e-3;

export const kinds: readonly Kind[] = ['vad', 'trunk', ...signals];

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
  const samples = new Float32Array(Math.round(seconds * sampleRate));
  let state = seed >>> 0;
  let last = 0;
  let beforeLast = 0;
  for (let index = 0; index < samples.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const noise = state / 2 ** 31 - 1;
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

/** Zeros for a head that adds up utterances, whose parameters say how many. */
function sumsOf({ params }: Models[Signal]['manifest']): Record<string, Values> {
  const { poolingSums: count } = params as { readonly poolingSums?: number };
  return count === undefined ? {} : { sums: { data: new Float32Array(count), shape: [1, count] } };
}

/** The golden of each model, by name. */
export async function goldensOf(models: Models): Promise<Record<string, Golden>> {
  const samples = syntheticSignal(goldenSignal.seed, goldenSignal.seconds);
  const outputs = await replay(models, samples);
  return Object.fromEntries(
    kinds.map((kind) => {
      const { name, labels } = models[kind].manifest;
      const own = { labels: labels && [...labels], outputs: outputs[kind] ?? {}, tolerance };
      return [name, { signal: goldenSignal, digest: digest(samples, models.platform), ...own }];
    }),
  );
}

/** One sentence per difference between a model's outputs and its golden; none for the weights that it was made with. */
export async function goldenDifferences(models: Models, golden: Golden, name: Kind): Promise<string[]> {
  const samples = syntheticSignal(golden.signal.seed, golden.signal.seconds);
  const outputs = (await replay(models, samples))[name] as Golden['outputs'];
  return [
    ...different(`${name} signal`, golden.digest, digest(samples, models.platform)),
    ...different(`${name} labels`, golden.labels, models[name].manifest.labels),
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

function summarise(outputs: Record<string, Values>): Golden['outputs'] {
  const kept: Golden['outputs'] = {};
  for (const [name, { data, shape }] of Object.entries(outputs)) {
    kept[name] = { shape: [...shape], values: [...data.subarray(0, keptValues)] };
  }
  return kept;
}
