/** Schema of models/<name>/manifest.json. Every key is required unless it says otherwise. */
import { z } from 'zod';
import type { FeatureSpec } from './platform.ts';
import { originSchema } from './report-schema.ts';
import { earlierParams, severalSpeakersParams } from './several-speakers.ts';
import { definitions, type ParamsOf, type Signal, signals } from './signals/table.ts';
import { detectionParams } from './speech.ts';
import { trunkParams } from './utterances.ts';
import { graphFile, voiceParams } from './voices.ts';

const fraction = z.number().min(0).max(1);
const positive = z.number().positive();
const { sha256 } = graphFile.shape;

/** The extractor checks keys and values when the model is loaded. */
const featureSpec = z.custom<FeatureSpec>((value) => typeof value === 'object' && value !== null);

const recordings = z.strictObject({
  name: z.string(),
  licence: z.string(),
  clips: z.int().nonnegative(),
});

/** Measured through the shipped pipeline on the test part; `group` names the recordings. */
const figure = z.strictObject({
  figure: z.string(),
  group: z.string(),
  value: z.number(),
  /** 95 % bootstrap interval over speakers, or over recordings of a single speaker. */
  interval: z.tuple([z.number(), z.number()]).nullable(),
  speakers: z.int().positive(),
  clips: z.int().positive(),
});

const texts = z.array(z.string()).min(1);

/** Empty `figures`: not yet measured on these weights. */
const evidence = z.strictObject({
  figures: z.array(figure),
  failures: texts,
  intendedUse: texts,
  unintendedUse: texts,
  /** Consequences of the licences of the recordings for operators. */
  deployment: z.string(),
});

const shared = {
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string(),
  weights: graphFile,
  featuresVersion: z.int(),
  inputs: z.array(z.string()).min(1),
  outputs: z.array(z.string()).min(1),
  training: z.strictObject({
    data: z.array(recordings),
    seed: z.int(),
    metrics: z.record(z.string(), z.unknown()),
    limits: z.array(z.string()),
  }),
  licence: z.string(),
  /** Of a model of another maker (`undertone models add`). */
  origin: originSchema.optional(),
  evidence,
};

/** The trunk of a head, pinned by the hash of its weights. */
const trunkReference = z.strictObject({ name: z.string(), version: z.string(), sha256 });

const vadParams = detectionParams.extend({
  /** Speech whose mean `voice` is lower comes with the warning `music_or_noise`. */
  minVoice: z.number(),
  /** Recordings with less speech have no scores. */
  minTotalSpeechSeconds: positive,
  /** Beyond these bounds a report carries a warning. */
  warnings: z.strictObject({
    minSnrDb: z.number(),
    /** Samples at full scale / all samples. */
    maxClippedRatio: fraction,
    /** Telephone speech ends at 3400 to 4000 Hz. */
    minBandwidthHz: positive,
    /** Without speech, a recording of at least this RMS level is not silent. */
    audibleDbfs: z.number(),
    /** Two microphones on one voice correlate; two voices on two channels do not. */
    minChannelCorrelation: z.number(),
  }),
});

const vadManifest = z.strictObject({
  kind: z.literal('vad'),
  ...shared,
  features: featureSpec,
  trunk: z.null(),
  labels: z.null(),
  params: vadParams,
});

const trunkManifest = z.strictObject({
  kind: z.literal('trunk'),
  ...shared,
  features: featureSpec,
  trunk: z.null(),
  labels: z.null(),
  params: trunkParams.extend({
    /** Spec of the second input `filterbanks`, of the same frames; absent when the graph has none. */
    filterbanks: featureSpec.optional(),
    /** Graph of the input `samples`, whose output follows the values of each embedding; absent when the trunk reads none. */
    samples: graphFile.optional(),
    /** Absent: reports have no warning `several_speakers`. */
    severalSpeakers: severalSpeakersParams.or(earlierParams).optional(),
  }),
});

/** Separates `speakers`; a set without it refuses them. */
const voiceManifest = z.strictObject({
  kind: z.literal('voice'),
  ...shared,
  /** Of the input `filterbanks`. */
  features: featureSpec,
  trunk: z.null(),
  labels: z.null(),
  params: voiceParams,
});

/** Heads: each signal defines its params and labels. */
const headManifests = signals.map((signal) =>
  z.strictObject({
    kind: z.literal(signal),
    ...shared,
    features: z.null(),
    trunk: trunkReference,
    labels: definitions[signal].labels,
    params: definitions[signal].params,
    /** Changes the outputs of the weights (correction.ts); absent from models that are not adapted. */
    correction: z
      .strictObject({
        file: z.literal('correction.json'),
        sha256,
        /** Of the file of labels that it was learned from. */
        labelsSha256: sha256,
      })
      .optional(),
    /** Why reports have no scores of this signal; absent when they have. */
    unavailable: z.string().min(1).optional(),
  }),
);

type HeadManifest<S extends Signal> = Omit<z.infer<(typeof headManifests)[number]>, 'kind' | 'params'> & {
  readonly kind: S;
  readonly params: ParamsOf<S>;
};
type VadManifest = z.infer<typeof vadManifest>;
type TrunkManifest = z.infer<typeof trunkManifest>;
type VoiceManifest = z.infer<typeof voiceManifest>;

/** Why reports have no scores of the signal; null when they have. */
export function unavailableOf(manifest: Manifest): string | null {
  return ('unavailable' in manifest && manifest.unavailable) || null;
}

/** The file that changes the outputs of the weights; null for models that are not adapted. */
export function correctionOf(manifest: Manifest) {
  return ('correction' in manifest && manifest.correction) || null;
}

/** A second graph of the trunk, for the warning `several_speakers`; null when it has none. */
export function severalSpeakersOf(manifest: Manifest): Manifest['weights'] | null {
  return (manifest.kind === 'trunk' && manifest.params.severalSpeakers?.weights) || null;
}

/** A second graph of the trunk, which reads samples; null when it has none. */
export function samplesOf(manifest: Manifest): Manifest['weights'] | null {
  return (manifest.kind === 'trunk' && manifest.params.samples) || null;
}

/** Every file that the manifest names, with its key. */
export function filesOf(manifest: Manifest) {
  const files = [
    { key: 'weights', file: manifest.weights },
    { key: 'weights', file: severalSpeakersOf(manifest) },
    { key: 'weights', file: samplesOf(manifest) },
    { key: 'base', file: manifest.kind === 'voice' ? manifest.params.base : null },
    { key: 'correction', file: correctionOf(manifest) },
  ];
  return files.flatMap(({ key, file }) => (file === null ? [] : [{ key, ...file }]));
}

/** The VAD model is published as `activity`. */
export function publishedName(name: string): string {
  return name === 'vad' ? 'activity' : name;
}

/** As reports and live sessions name a model. */
export function versionOf({
  name,
  version,
  featuresVersion,
  origin,
}: Pick<Manifest, 'name' | 'version' | 'featuresVersion' | 'origin'>) {
  return { name, version, features_version: featuresVersion, ...(origin && { origin }) };
}

export type Manifest =
  | VadManifest
  | TrunkManifest
  | VoiceManifest
  | { [S in Signal]: HeadManifest<S> }[Signal];
export type Kind = Manifest['kind'];
export type ManifestOf<K extends Kind> = Extract<Manifest, { kind: K }>;

export const manifestSchema = z.discriminatedUnion('kind', [
  vadManifest,
  trunkManifest,
  voiceManifest,
  ...headManifests,
]) as unknown as z.ZodType<Manifest>;
