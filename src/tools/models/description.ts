/** What an ONNX file reads and returns: from the files that Hugging Face's Optimum writes with it, or from a JSON file of the user. */
import { existsSync, statSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { basename, dirname, extname, join } from 'node:path';
import { z } from 'zod';
import { hasControls } from '../../node/controls.ts';
import { FileError, readRegularFile } from '../../node/files.ts';
import { UsageError } from '../context.ts';

const sampleRate = 16_000;
const maxTextBytes = 2 ** 22;

/** How the samples of an utterance become the input of the graph. */
export type Frontend =
  | { readonly kind: 'samples'; readonly standardised: boolean }
  /** Log-mel of 30 s, as WhisperFeatureExtractor computes it. */
  | { readonly kind: 'whisper'; readonly bins: number; readonly seconds: number }
  /** Filterbanks, as ASTFeatureExtractor computes them. */
  | {
      readonly kind: 'ast';
      readonly bins: number;
      readonly frames: number;
      readonly mean: number;
      readonly deviation: number;
    };

const dimension = z.enum(['valence', 'arousal', 'dominance']);
/** A dimension, and the ends of its scale. */
const scale = z
  .strictObject({ name: dimension, low: z.number().default(0), high: z.number().default(1) })
  .refine(({ low, high }) => low < high, '`low` below `high`');
/** Dimensions in the order of the output. Reports leave out dominance. */
const scales = z
  .array(scale)
  .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, 'each dimension once')
  .refine((all) => all.some(({ name }) => name !== 'dominance'), 'valence or arousal');
export type Scale = z.infer<typeof scale>;

export type Description = {
  readonly model: string;
  readonly source: string;
  readonly licence: string;
  /** Null: the input that is not an attention mask. */
  readonly input: string | null;
  readonly frontend: Frontend;
  /** Seconds that the graph needs; shorter utterances are followed by silence. */
  readonly minSeconds: number;
  readonly maxSeconds: number;
  /** Null: the only one. */
  readonly output: string | null;
  /** Null without logits and probabilities. */
  readonly labels: readonly string[] | null;
  /** Null for other outputs. Without labels and dimensions the output is hidden states, [1, frames, values] or [1, values]. */
  readonly dimensions: readonly Scale[] | null;
  /** The output are probabilities in place of logits. */
  readonly areProbabilities: boolean;
};

const text = z
  .string()
  .min(1)
  .max(200)
  .refine((value) => !hasControls(value), 'no control characters');
const ownDescription = z.strictObject({
  model: text.optional(),
  source: text.optional(),
  licence: text.optional(),
  input: z.strictObject({
    name: z.string().optional(),
    features: z.enum(['samples', 'whisper-80', 'whisper-128']).default('samples'),
    sampleRate: z.literal(sampleRate),
    normalisation: z.enum(['none', 'zero-mean-unit-variance']).default('none'),
    minSeconds: z.number().min(0).max(10).default(0),
    maxSeconds: z.number().min(2).default(30),
  }),
  output: z.strictObject({
    name: z.string().optional(),
    kind: z.enum(['logits', 'probabilities', 'dimensions', 'hidden-states']),
    labels: z.array(z.string()).optional(),
    dimensions: scales.optional(),
  }),
});

const config = z.looseObject({
  architectures: z.array(z.string()).nullish(),
  id2label: z.record(z.string(), z.string()).nullish(),
  _name_or_path: z.string().nullish(),
});
/** Beyond those of published models. */
const maxBins = 512;
const maxChunkSeconds = 60;
const maxFrames = 8192;

const preprocessor = z.looseObject({
  feature_extractor_type: z.string(),
  sampling_rate: z.int().default(sampleRate),
  do_normalize: z.boolean().default(true),
  feature_size: z.int().min(1).max(maxBins).default(80),
  chunk_length: z.int().min(1).max(maxChunkSeconds).default(30),
  num_mel_bins: z.int().min(1).max(maxBins).default(128),
  max_length: z.int().min(1).max(maxFrames).default(1024),
  mean: z.number().default(-4.2677393),
  std: z.number().default(4.5689974),
});

/** A folder, or an ONNX file. */
type Source = { readonly onnx: string; readonly description: Description };

/** @param licence that the user states, in place of that of the card @throws UsageError */
export async function readSource(path: string, licence: string | null): Promise<Source> {
  const entry = statSync(path, { throwIfNoEntry: false });
  if (entry === undefined) throw new UsageError(`Expected a folder or an ONNX file, got none at ${path}`);
  if (!entry.isDirectory()) return describeFile(path, licence);
  const onnx = ['model.onnx', 'onnx/model.onnx']
    .map((name) => join(path, name))
    .find((file) => existsSync(file));
  if (onnx === undefined)
    throw new UsageError(`Expected model.onnx in ${path}, got none: optimum-cli export onnx writes it`);
  return { onnx, description: await describeFolder(path, licence) };
}

async function describeFile(onnx: string, stated: string | null): Promise<Source> {
  const json = join(dirname(onnx), `${basename(onnx, extname(onnx))}.json`);
  const { input, output, ...named } = parse(
    ownDescription,
    await readText(json, 'docs/your-model.md describes it'),
    json,
  );
  const { kind, labels = null, dimensions = null } = output;
  if ((kind === 'logits' || kind === 'probabilities') !== (labels !== null))
    throw new UsageError(`Expected \`labels\` for logits and probabilities alone in ${json}, got ${kind}`);
  if ((kind === 'dimensions') !== (dimensions !== null))
    throw new UsageError(`Expected \`dimensions\` for dimensions alone in ${json}, got ${kind}`);
  const { features } = input;
  return {
    onnx,
    description: {
      model: named.model ?? basename(onnx),
      source: named.source ?? basename(onnx),
      licence: licenceOf(stated ?? named.licence ?? null, `\`licence\` in ${basename(json)}`),
      input: input.name ?? null,
      frontend:
        features === 'samples'
          ? { kind: 'samples', standardised: input.normalisation !== 'none' }
          : { kind: 'whisper', bins: features === 'whisper-80' ? 80 : 128, seconds: 30 },
      minSeconds: input.minSeconds,
      maxSeconds: input.maxSeconds,
      output: output.name ?? null,
      labels,
      dimensions,
      areProbabilities: kind === 'probabilities',
    },
  };
}

async function describeFolder(folder: string, stated: string | null): Promise<Description> {
  const read = (name: string) => readText(join(folder, name), 'Optimum writes it next to model.onnx');
  const {
    architectures,
    id2label,
    _name_or_path: name,
  } = parse(config, await read('config.json'), 'config.json');
  const extractor = parse(preprocessor, await read('preprocessor_config.json'), 'preprocessor_config.json');
  if (extractor.sampling_rate !== sampleRate)
    throw new UsageError(`Expected a model of ${sampleRate} Hz, got ${extractor.sampling_rate} Hz`);
  const architecture = architectures?.[0] ?? '';
  const isClassifier = /For(Sequence|Audio|Speech)Classification$/.test(architecture);
  if (isClassifier && !id2label)
    throw new UsageError('Expected `id2label` in config.json for a classifier, got none');
  const labels = isClassifier ? sortedLabels(id2label ?? {}) : null;
  const dimensions =
    scales.safeParse(labels?.map((one) => ({ name: one.trim().toLowerCase() }))).data ?? null;
  const model = text.safeParse(name).data ?? basename(folder);
  return {
    model: basename(model),
    source: model,
    licence: licenceOf(stated ?? (await licenceOfCard(folder)), '`license:` in README.md'),
    input: null,
    frontend: frontendOf(extractor),
    minSeconds: 0,
    maxSeconds: extractor.feature_extractor_type === 'ASTFeatureExtractor' ? extractor.max_length / 100 : 30,
    output: null,
    labels: dimensions === null ? labels : null,
    dimensions,
    areProbabilities: false,
  };
}

function frontendOf(extractor: z.infer<typeof preprocessor>): Frontend {
  switch (extractor.feature_extractor_type) {
    case 'Wav2Vec2FeatureExtractor':
      return { kind: 'samples', standardised: extractor.do_normalize };
    case 'WhisperFeatureExtractor':
      return { kind: 'whisper', bins: extractor.feature_size, seconds: extractor.chunk_length };
    case 'ASTFeatureExtractor': {
      const { num_mel_bins: bins, max_length: frames, mean, std, do_normalize } = extractor;
      return {
        kind: 'ast',
        bins,
        frames,
        mean: do_normalize ? mean : 0,
        deviation: do_normalize ? 2 * std : 1,
      };
    }
    default:
      throw new UsageError(
        `Expected Wav2Vec2FeatureExtractor, WhisperFeatureExtractor or ASTFeatureExtractor, got ${extractor.feature_extractor_type}: describe the file with a JSON file (docs/your-model.md)`,
      );
  }
}

function sortedLabels(id2label: Readonly<Record<string, string>>): string[] {
  return Object.keys(id2label)
    .map((id) => {
      const index = Number(id);
      if (!(Number.isInteger(index) && index >= 0 && index < Object.keys(id2label).length))
        throw new UsageError(`Expected ids from 0 on in \`id2label\`, got ${id}`);
      return index;
    })
    .sort((one, other) => one - other)
    .map((index) => id2label[String(index)] as string);
}

/** `license` of the front matter of a card of Hugging Face. */
async function licenceOfCard(folder: string): Promise<string | null> {
  const path = join(folder, 'README.md');
  if (!existsSync(path)) return null;
  const [, matter = ''] = /^---\r?\n(.*?)\r?\n---/s.exec(await readText(path, '')) ?? [];
  const field = (name: string) =>
    new RegExp(`^${name}:\\s*["']?([^"'\\r\\n]+?)["']?\\s*$`, 'm').exec(matter)?.[1];
  const licence = field('license');
  return (licence === 'other' ? (field('license_name') ?? licence) : licence) ?? null;
}

function licenceOf(found: string | null, where: string): string {
  if (found === null)
    throw new UsageError(`Expected the licence of the model, got none: ${where} or --licence states it`);
  const { data } = text.safeParse(found);
  if (data === undefined)
    throw new UsageError(`Expected a licence of 1 to 200 printable characters, got another`);
  return data;
}

async function readText(path: string, hint: string): Promise<string> {
  if (!existsSync(path)) throw new UsageError(`Expected ${path}, got none: ${hint}`);
  try {
    return (
      await readRegularFile(path, { maxBytes: maxTextBytes, roots: [await realpath(dirname(path))] })
    ).toString();
  } catch (error) {
    if (!(error instanceof FileError)) throw error;
    throw new UsageError(`Expected ${path}, got ${error.got}: ${hint}`);
  }
}

function parse<Schema extends z.ZodType>(schema: Schema, json: string, name: string): z.infer<Schema> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    throw new UsageError(`Expected JSON in ${name}, got something else`);
  }
  const { data, error } = schema.safeParse(value);
  if (error !== undefined) throw new UsageError(`${name}: ${z.prettifyError(error)}`);
  return data;
}
