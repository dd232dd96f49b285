/** Writes a set of models around a graph of another maker: what it lacks is that of a shipped set. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Manifest, ManifestOf } from '../../engine/schema.ts';
import { type ModelFolder, readModelFolders } from '../../node/models.ts';
import { sha256 } from '../../service/sha256.ts';
import { type Composed, composeClassifierHead, composeDimensionsHead, widen } from './compose.ts';
import type { Description, Scale } from './description.ts';
import { parseShippedGraph } from './source-graph.ts';

type Addition = {
  readonly description: Description;
  readonly graph: Composed;
  /** As reports name them. Null: those of the shipped set. */
  readonly labels: readonly string[] | null;
};

type Changed = { readonly manifest: Manifest; readonly files: Readonly<Record<string, Uint8Array>> };
type Context = Addition & {
  readonly base: ModelFolder;
  /** Values of an embedding of the set. */
  readonly width: number;
};

const samplesFile = 'samples.onnx';
/** A calibrated model is more likely wrong than right below it. */
const lowConfidence = 0.5;

/** @param out an empty folder @param base a folder of shipped models */
export async function writeSet(out: string, base: string, addition: Addition): Promise<void> {
  const models = await readModelFolders(base);
  const width = (await trunkWidth(models)) + addition.graph.width;
  for (const model of models) {
    const { manifest, files } = await change({ ...addition, base: model, width });
    const folder = join(out, manifest.name);
    await mkdir(folder);
    const all = { ...files, 'manifest.json': toJson(manifest), 'CARD.md': card(manifest) };
    for (const [name, bytes] of Object.entries(all))
      await writeFile(join(folder, name), bytes, { flag: 'wx' });
  }
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

async function trunkWidth(models: readonly ModelFolder[]): Promise<number> {
  const { manifest, files } = models.find(({ manifest: { kind } }) => kind === 'trunk') as ModelFolder;
  const { outputs } = await parseShippedGraph(files.get(manifest.weights.file) as Uint8Array);
  return outputs[0]?.dims.at(-1) as number;
}

async function change(context: Context): Promise<Changed> {
  const { base, labels, description } = context;
  const { manifest } = base;
  if (manifest.kind === 'vad' || manifest.kind === 'voice')
    return { manifest, files: Object.fromEntries(base.files) };
  if (manifest.kind === 'trunk') return changeTrunk(manifest, context);
  if (manifest.kind === 'emotion' && labels !== null) return changeLabels(manifest, labels, context);
  if (manifest.kind === 'emotion' && description.dimensions !== null)
    return changeDimensions(manifest, description.dimensions, context);
  return widenHead(manifest, context);
}

const weightsOf = ({ manifest: { weights }, files }: ModelFolder) => ({
  [weights.file]: files.get(weights.file) as Uint8Array,
});

async function changeTrunk(
  manifest: ManifestOf<'trunk'>,
  { base, width, ...addition }: Context,
): Promise<Changed> {
  const { severalSpeakers: voices } = manifest.params;
  const { graph, description } = addition;
  const readVoices = voices && (base.files.get(voices.weights.file) as Uint8Array);
  // It reads another output of the trunk, or the values that the samples add to.
  const voice =
    readVoices && (manifest.outputs.includes('frames') ? readVoices : await widen(readVoices, width));
  return {
    files: {
      ...weightsOf(base),
      [samplesFile]: graph.bytes,
      ...(voice && { [voices.weights.file]: voice }),
    },
    manifest: {
      ...described(
        manifest,
        addition,
        `${manifest.description}; followed by what ${description.model} returns for the samples`,
      ),
      inputs: [...manifest.inputs, 'samples'],
      params: {
        ...manifest.params,
        windowSeconds: Math.min(manifest.params.windowSeconds, graph.maxSeconds),
        samples: { file: samplesFile, sha256: sha256(graph.bytes) },
        ...(voice && {
          severalSpeakers: { ...voices, weights: { ...voices.weights, sha256: sha256(voice) } },
        }),
      },
    },
  };
}

async function changeLabels(
  manifest: ManifestOf<'emotion'>,
  labels: readonly string[],
  context: Context,
): Promise<Changed> {
  const weights = composeClassifierHead(context.width, labels.length);
  const { model } = context.description;
  return uncalibratedEmotion(weights, context, {
    ...described(manifest, context, `${labels.length} labels of ${model}`),
    labels: [...labels],
    params: { ...manifest.params, dimensions: [], lowConfidence },
  });
}

async function changeDimensions(
  manifest: ManifestOf<'emotion'>,
  scales: readonly Scale[],
  context: Context,
): Promise<Changed> {
  const shipped = context.base.files.get(manifest.weights.file) as Uint8Array;
  const weights = await composeDimensionsHead(shipped, context.width, scales);
  const { model } = context.description;
  const dimensions = scales.flatMap(({ name }) => (name === 'dominance' ? [] : [name]));
  return uncalibratedEmotion(weights, context, {
    ...described(manifest, context, `${manifest.description}; ${dimensions.join(' and ')} of ${model}`),
    params: { ...manifest.params, dimensions, intervals: { valence: null, arousal: null } },
  });
}

function uncalibratedEmotion(
  weights: Uint8Array,
  { base }: Context,
  manifest: ManifestOf<'emotion'>,
): Changed {
  return {
    files: { [base.manifest.weights.file]: weights },
    manifest: {
      ...manifest,
      weights: { ...manifest.weights, sha256: sha256(weights) },
      version: '1.0.0',
      params: { ...manifest.params, moments: null, uncalibrated: true },
    },
  };
}

/** A shipped head, which reads what the shipped trunk returns. Emotion that is adapted to an encoder reads that too. */
async function widenHead<M extends Manifest>(
  manifest: M,
  { base, width, ...addition }: Context,
): Promise<Changed> {
  const weights = await widen(base.files.get(manifest.weights.file) as Uint8Array, width);
  return {
    files: { [manifest.weights.file]: weights },
    manifest: {
      ...manifest,
      ...(manifest.kind === 'emotion' && ofOrigin(manifest, addition)),
      weights: { ...manifest.weights, sha256: sha256(weights) },
    },
  };
}

function ofOrigin({ licence }: Manifest, { description: { model, source, ...stated }, graph }: Addition) {
  return {
    origin: { model, source, licence: stated.licence, sha256: sha256(graph.bytes) },
    licence: `${model}: ${stated.licence} (${source}); ${licence}`,
  };
}

/** What is known of the model of another maker. */
function described<M extends Manifest>(manifest: M, addition: Addition, description: string): M {
  const { model, licence } = addition.description;
  return {
    ...manifest,
    description,
    ...ofOrigin(manifest, addition),
    training: {
      ...manifest.training,
      data: [{ name: `recordings of ${model}`, licence: 'not stated', clips: 0 }],
      metrics: {},
      limits: [
        `${model} was added by \`undertone models add\`: what it was trained on, and how good it is, its maker states.`,
        'No labelled recordings have calibrated its scores.',
      ],
    },
    evidence: {
      ...manifest.evidence,
      figures: [],
      deployment: `The licence of ${model}, as its card states it: ${licence}.`,
    },
  };
}

function card({ name, version, description, licence, training, evidence }: Manifest): string {
  const list = (title: string, texts: readonly string[]) => [
    `## ${title}`,
    '',
    ...texts.map((text) => `- ${text}`),
    '',
  ];
  return [
    `# ${name} ${version}`,
    '',
    `${description}.`,
    '',
    `Licence: ${licence}.`,
    '',
    evidence.deployment,
    '',
    ...list('Limits', training.limits),
    ...list('Known failures', evidence.failures),
    ...list('Intended use', evidence.intendedUse),
    ...list('Not intended', evidence.unintendedUse),
  ].join('\n');
}
