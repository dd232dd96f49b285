/** The schema of models/<name>/manifest.json. Every key is required: there is no default below the manifest. */
import { z } from 'zod';
import type { FeatureSpec } from '../audio.ts';
import { cepstrumLength } from '../signals/speaker.ts';

const fraction = z.number().min(0).max(1);
const positive = z.number().positive();
const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** Keys and values are checked by the extractor itself, once, when the registry loads the model. */
const featureSpec = z.custom<FeatureSpec>((value) => typeof value === 'object' && value !== null);

const recordings = z.strictObject({
  name: z.string(),
  licence: z.string(),
  clips: z.int().nonnegative(),
});

/** Measured through the shipped pipeline on people no model was trained on; `group` is whose recordings. */
const figure = z.strictObject({
  figure: z.string(),
  group: z.string(),
  value: z.number(),
  /** 95 %, drawn over speakers, or over recordings where there is one speaker. */
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
  /** What the licences of the recordings mean for whoever runs the service. */
  deployment: z.string(),
});

const shared = {
  name: z.string().regex(/^[a-z][a-z0-9-]*$/),
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  description: z.string(),
  weights: z.strictObject({ file: z.string().regex(/^[\w.-]+$/), sha256 }),
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
  evidence,
};

/** The trunk a head was trained on, pinned by the hash of its weights. */
const trunkReference = z.strictObject({ name: z.string(), version: z.string(), sha256 });

const activityRule = z.strictObject({
  /** Speech probability that opens a segment, and the lower one that closes it. */
  onset: fraction,
  offset: fraction,
  minSpeechSeconds: positive,
  minPauseSeconds: positive,
  /** Speech whose mean `voice` is lower comes with the warning `music_or_noise`. */
  minVoice: z.number(),
});

/** Half-width of an 80 % interval: `base` times the exponential of what is missing, see signals/intervals.ts. */
const intervalRule = z.strictObject({
  base: fraction,
  short: z.number().nonnegative(),
  noise: z.number().nonnegative(),
  narrow: z.number().nonnegative(),
  clipped: z.number().nonnegative(),
});

const emotionRule = z.strictObject({
  intervals: z.strictObject({ valence: intervalRule, arousal: intervalRule }),
  shortSpeechSeconds: positive,
  /** Below this probability the report warns `low_confidence`. */
  lowConfidence: fraction,
});

/** Position of a measure in the reference recordings, and what it weighs in each index. */
const referenceMeasure = z.strictObject({
  median: z.number(),
  /** Of the logistic distribution with the reference's quartiles, on `scale`. */
  spread: positive,
  scale: z.enum(['ratio', 'odds', 'inverse', 'difference']),
  unit: z.string(),
  source: z.string(),
});

const indexWeight = z.strictObject({
  direction: z.enum(['up', 'down']),
  weight: positive,
  /** Counts only beside a baseline of the same speaker. */
  relativeOnly: z.boolean(),
});

/** When a baseline sounds like another speaker: see signals/speaker.ts. */
const otherSpeaker = z.strictObject({
  minSpeechSeconds: positive,
  /** Rows of weights for pitch_level and each coefficient of the cepstrum. */
  directions: z.array(z.array(z.number()).length(1 + cepstrumLength)).min(1),
  threshold: positive,
});

const cognitiveRule = z.strictObject({
  intervals: z.strictObject({ clarity: intervalRule }),
  shortSpeechSeconds: positive,
  /** Seconds of speech at the reference that every index is mixed with. */
  priorSeconds: positive,
  /** From these bounds on the report warns `possibly_scripted`. */
  scripted: z.strictObject({ minSpeechSeconds: positive, minMeanRun: positive, maxPauseRatio: fraction }),
  otherSpeaker,
  reference: z.record(z.string(), referenceMeasure),
  /** Measures of each index: `direction` tells whether a higher measure raises or lowers it. */
  cognitiveLoad: z.record(z.string(), indexWeight),
  processing: z.record(z.string(), indexWeight),
});

export const manifestSchema = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('activity'),
    ...shared,
    features: featureSpec,
    trunk: z.null(),
    labels: z.null(),
    rule: activityRule,
  }),
  z.strictObject({
    kind: z.literal('trunk'),
    ...shared,
    features: featureSpec,
    trunk: z.null(),
    labels: z.null(),
    rule: z.strictObject({ windowSeconds: positive, framesPerToken: z.int().positive() }),
  }),
  z.strictObject({
    kind: z.literal('emotion'),
    ...shared,
    features: z.null(),
    trunk: trunkReference,
    labels: z.array(z.string()).min(2),
    rule: emotionRule,
  }),
  z.strictObject({
    kind: z.literal('cognitive'),
    ...shared,
    features: z.null(),
    trunk: trunkReference,
    labels: z.null(),
    rule: cognitiveRule,
  }),
]);

export type Manifest = z.infer<typeof manifestSchema>;
export type Kind = Manifest['kind'];
export type ManifestOf<K extends Kind> = Extract<Manifest, { kind: K }>;
