/** Opens models from the bytes of their files and throws on every mismatch. */

import { correctHead } from './correction.ts';
import { loadOnce } from './load-once.ts';
import {
  correctionOf,
  filesOf,
  type Kind,
  type Manifest,
  type ManifestOf,
  manifestSchema,
  samplesOf,
  severalSpeakersOf,
  unavailableOf,
} from './manifest.ts';
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
import type { VoiceModel } from './voices.ts';

type RequiredKind = Exclude<Kind, 'voice'>;
export const kinds: readonly RequiredKind[] = ['vad', 'trunk', ...signals];

type Model<K extends Kind> = { readonly manifest: ManifestOf<K>; readonly session: Session };

/** One model of each kind; `trunk` and `vad` read the same features. */
export type Models = {
  /** Those of the whole set, which was loaded. */
  readonly manifests: readonly Manifest[];
  /** How samples are filtered, once, before features are extracted of any part of them. */
  readonly filter: StreamFilterOptions;
  /** Without `highpassHz`, which is in `filter`. */
  readonly features: FeatureSpec;
  /** Further ones that the trunk reads; null when it does not. */
  readonly filterbanks: FeatureSpec | null;
  /** Whether the trunk reads the samples of an utterance in addition to its frames. */
  readonly readsSamples: boolean;
  /** The features of a frame of digital silence. */
  readonly silence: Float32Array;
  /** State of the VAD model after endless silence: that before a recording. */
  readonly silentVad: Float32Array;
  /** Compares voices of utterances; null when the params of the trunk have no `severalSpeakers`. */
  readonly severalSpeakers: Session | null;
  /** Separates voices; null in a set without it. */
  readonly voice: (VoiceModel & { readonly manifest: ManifestOf<'voice'> }) | null;
  /** What runs them. */
  readonly platform: Platform;
} & { readonly [K in RequiredKind]: Model<K> };

export type ModelBytes = {
  readonly manifest: Manifest;
  /** Those that the manifest names, which have its hashes, by name. */
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** Reads the files again. @throws ModelError if they are not the same any more */
  readonly reread: () => Promise<ModelBytes>;
};

/** Frees the bytes of models that are open: a collection might not follow before the next request. */
export function releaseFiles(set: readonly ModelBytes[], { release }: Pick<Platform, 'release'>): void {
  for (const { files } of set) {
    // Small files share the memory of a pool.
    for (const bytes of files.values()) if (bytes.byteLength === bytes.buffer.byteLength) release(bytes);
  }
}

/** Inputs and outputs of the graph of each kind. */
const graphs: Readonly<Record<Kind, Pick<Session, 'inputs' | 'outputs'>>> = {
  vad: { inputs: ['features', 'state'], outputs: ['speech', 'syllable_rate', 'voice', 'next_state'] },
  trunk: { inputs: ['features'], outputs: ['tokens'] },
  voice: { inputs: ['frames', 'weights'], outputs: ['voice'] },
  ...definitions,
};

/** A trunk with filterbanks may do without features. */
function graphOf(manifest: Manifest): Pick<Session, 'inputs' | 'outputs'> {
  const { inputs, outputs } = graphs[manifest.kind];
  if (manifest.kind !== 'trunk') return { inputs, outputs };
  const hasFilterbanks = filterbanksOf(manifest) !== null;
  const frames = hasFilterbanks
    ? [...inputs.filter((name) => manifest.inputs.includes(name)), 'filterbanks']
    : inputs;
  return {
    inputs: samplesOf(manifest) === null ? frames : [...frames, 'samples'],
    outputs: hasFrames(manifest) ? [...outputs, 'frames'] : outputs,
  };
}

/** Whether the trunk has a second output, for voices. */
const hasFrames = ({ outputs }: Pick<Manifest, 'outputs'>): boolean => outputs.includes('frames');

export function filterbanksOf(manifest: Manifest): FeatureSpec | null {
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
  for (const { key, file, sha256 } of filesOf(manifest)) {
    const bytes = await read(file);
    const hash = platform.createSha256();
    hash.update(bytes);
    expectEqual(name, `${key}.sha256`, sha256, hash.digest());
    files.set(file, bytes);
  }
  expectEqual(name, 'name', name, manifest.name);
  expectEqual(name, 'featuresVersion', platform.featuresVersion, manifest.featuresVersion);
  const { inputs, outputs } = graphOf(manifest);
  expectEqual(name, 'inputs', inputs, manifest.inputs);
  expectEqual(name, 'outputs', outputs, manifest.outputs);
  if (manifest.features !== null) checkFeatures(name, manifest.features, platform);
  checkFilterbanks(name, manifest, platform);
  return { manifest, files, reread: () => readModel(name, manifestJson, read, platform) };
}

/** @param set every model of a set: see `checkSet` @param threads of the trunk @throws ModelError */
export async function openModels(
  set: readonly ModelBytes[],
  platform: Platform,
  threads = 1,
): Promise<Models> {
  const threadsOf = (kind: Kind) => (kind === 'trunk' ? threads : 1);
  const models = await Promise.all(
    kinds.map(async (kind) => [kind, await open(set, kind, platform, threadsOf(kind))]),
  );
  const byName = Object.fromEntries(models) as { readonly [K in RequiredKind]: Model<K> };
  const specs = specsOf(byName.trunk.manifest);
  const severalSpeakers = await openSeveralSpeakers(bytesOf(set, 'trunk'), platform);
  const silence = silentFrame(specs.features, platform);
  const manifests = set.map(({ manifest }) => manifest);
  const silentVad = await settleVad({ vad: byName.vad, silence, platform });
  const voice = voiceOf(set, platform);
  return { manifests, ...specs, silence, silentVad, severalSpeakers, voice, platform, ...byName };
}

/** Its filterbanks have the sample rate, hop and high-pass of its features. */
function specsOf(trunk: ManifestOf<'trunk'> | ManifestOf<'vad'>) {
  const { features } = trunk;
  const filterbanks = filterbanksOf(trunk);
  const { sampleRate, hopLength, highpassHz } = features;
  return {
    filter: { sampleRate, hopLength, ...(highpassHz !== undefined && { highpassHz }) },
    features: withoutHighpass(features),
    filterbanks: filterbanks && withoutHighpass(filterbanks),
    readsSamples: samplesOf(trunk) !== null,
  };
}

const withoutHighpass = ({ highpassHz: _, ...spec }: FeatureSpec): FeatureSpec => spec;

function voiceOf(set: readonly ModelBytes[], platform: Platform): Models['voice'] {
  if (!set.some(({ manifest: { kind } }) => kind === 'voice')) return null;
  const model = bytesOf(set, 'voice');
  const { manifest } = model;
  const load = openOnce(model, platform, async (reread) => {
    const { session: rest } = await open([reread], 'voice', platform);
    return { base: await openGraph(reread, manifest.params.base.file, baseGraph, platform), rest };
  });
  return { manifest, features: withoutHighpass(manifest.features), load };
}

const baseGraph = { inputs: ['filterbanks'], outputs: ['frames'] };

/** Reads the model when it is first needed: until then its bytes take no memory. */
function openOnce<Opened>(
  { reread }: ModelBytes,
  platform: Platform,
  openModel: (model: ModelBytes) => Promise<Opened>,
): () => Promise<Opened> {
  return loadOnce(async () => {
    const model = await reread();
    const opened = await openModel(model);
    releaseFiles([model], platform);
    return opened;
  });
}

/**
 * The trunk is half of a request: with idle cores it runs on `threads` threads. Under load these would take processor time
 * from other requests: `busy` opens a second one, on one thread, when it is first called.
 * @throws ModelError, also in `busy`
 */
export async function openModelsForCores(
  set: readonly ModelBytes[],
  threads: number,
  platform: Platform,
): Promise<{ readonly idle: Models; readonly busy: () => Promise<Models> }> {
  // A second copy of the weights of another maker would be large.
  const isShared = threads === 1 || samplesOf(bytesOf(set, 'trunk').manifest) !== null;
  const idle = await openModels(set, platform, isShared ? 1 : threads);
  return { idle, busy: isShared ? async () => idle : withTrunk(idle, bytesOf(set, 'trunk')) };
}

/** Without another trunk where its files have changed since: the first one computes the same. */
function withTrunk(models: Models, bytes: ModelBytes): () => Promise<Models> {
  const openTrunk = openOnce(bytes, models.platform, (reread) => open([reread], 'trunk', models.platform));
  // A failure is kept: the files are not read again at every request.
  const openOrShare = loadOnce(() => openTrunk().catch(() => models.trunk));
  return async () => ({ ...models, trunk: await openOrShare() });
}

/** What cuts and encodes utterances. */
export type Encoder = Pick<
  Models,
  'filter' | 'features' | 'filterbanks' | 'readsSamples' | 'silence' | 'silentVad' | 'vad' | 'platform'
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
  const specs = specsOf((trunk ?? vad).manifest);
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
  // Compiling the schema takes longer than parsing the few manifests of a set.
  const { data, error } = manifestSchema.safeParse(json, { jitless: true });
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
  checkSampling(name, features, spec, 'filterbanks');
  // Padding decides it too.
  const second = new Float32Array(features.sampleRate);
  const framesBy = (one: FeatureSpec): number => platform.extract(second, one).frames;
  expectEqual(name, 'frames of filterbanks', framesBy(features), framesBy(spec));
}

/** They are of the same frames of the same samples. */
function checkSampling(
  name: string,
  features: FeatureSpec,
  spec: FeatureSpec,
  field: string,
  keys: readonly (keyof FeatureSpec)[] = ['sampleRate', 'hopLength', 'highpassHz'],
): void {
  for (const key of keys) expectEqual(name, `${field}.${key}`, features[key], spec[key]);
}

/** A set has one model of each kind, but `voice`, of which it may have none, and its heads have the trunk of their training. @throws ModelError */
export function checkSet(manifests: readonly Manifest[]): void {
  for (const kind of kinds) {
    const count = manifests.filter((manifest) => manifest.kind === kind).length;
    if (count !== 1) throw new ModelError(`Expected one model of kind ${kind}, got ${count}`);
  }
  const voices = manifests.filter(({ kind }) => kind === 'voice');
  if (voices.length > 1)
    throw new ModelError(`Expected at most one model of kind voice, got ${voices.length}`);
  const trunk = manifests.find((manifest) => manifest.kind === 'trunk') as ManifestOf<'trunk'>;
  const pinned = { name: trunk.name, version: trunk.version, sha256: trunk.weights.sha256 };
  for (const manifest of manifests) {
    if (manifest.trunk !== null) expectEqual(manifest.name, 'trunk', pinned, manifest.trunk);
    if (manifest.kind === 'voice')
      // The samples are filtered once, as the trunk needs them.
      checkSampling(manifest.name, trunk.features, manifest.features, 'features', [
        'sampleRate',
        'hopLength',
      ]);
    else if (manifest.features !== null)
      expectEqual(manifest.name, 'features', trunk.features, manifest.features);
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
  const samples = samplesOf(manifest);
  const graph = { ...manifest, inputs: manifest.inputs.filter((name) => name !== 'samples') };
  const session = await openGraph(
    model,
    manifest.weights.file,
    samples ? graph : manifest,
    platform,
    threads,
  );
  if (samples === null) return { manifest, session: openCorrection(model, session) };
  const ofSamples = { inputs: [samplesName], outputs: [embeddingName] };
  const second = await openGraph(model, samples.file, ofSamples, platform, threads);
  return { manifest, session: joinOutputs(session, second) };
}

/** Input and output of the graph of another maker, whose values have other names. */
export const samplesName = 'undertone/samples';
export const embeddingName = 'undertone/embedding';

/** A trunk of two graphs: the second has one output for an utterance, which follows the values of each of its embeddings. */
function joinOutputs(trunk: Session, second: Session): Session {
  const [width, added] = [Number(trunk.widths.tokens), Number(second.widths[embeddingName])];
  return {
    inputs: [...trunk.inputs, 'samples'],
    outputs: trunk.outputs,
    widths: { ...trunk.widths, tokens: width + added },
    async run({ samples, ...frames }) {
      const { tokens, ...others } = (await trunk.run(frames)) as Record<'tokens', Values>;
      const embedding = (await second.run({ [samplesName]: samples as Values }))[embeddingName] as Values;
      const count = tokens.shape[1] as number;
      const data = new Float32Array(count * (width + added));
      for (let index = 0; index < count; index++) {
        const at = index * (width + added);
        data.set(tokens.data.subarray(index * width, (index + 1) * width), at);
        data.set(embedding.data, at + width);
      }
      return { ...others, tokens: { data, shape: [1, count, width + added] } };
    },
  };
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

function openSeveralSpeakers(model: ModelBytes, platform: Platform): Promise<Session> | null {
  const reference = severalSpeakersOf(model.manifest);
  const graph = { inputs: [hasFrames(model.manifest) ? 'frames' : 'tokens'], outputs: ['voice'] };
  return reference && openGraph(model, reference.file, graph, platform);
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
      `Model ${model}: Expected a self-contained ONNX file for ${file}, got: ${(error as Error).message}`,
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

/** Signals that the models have. */
export function available(models: Models): Signal[] {
  return signals.filter((signal) => unavailableOf(models[signal].manifest) === null);
}

export function manifestsOf(models: Models): Readonly<Record<Signal, Manifest>> {
  const entries = signals.map((signal) => [signal, models[signal].manifest] as const);
  return Object.fromEntries(entries) as Readonly<Record<Signal, Manifest>>;
}
