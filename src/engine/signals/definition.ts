/** The definition of a signal. Pipeline, manifests, reports, routes, scopes, OpenAPI and CLI output follow from it. */
import type { z } from 'zod';
import type { Platform, Session } from '../platform.ts';
import type { SpeechQuality } from '../quality.ts';
import type { BodySchema } from '../report-schema.ts';
import type { Segment } from '../segments.ts';
import type { DetectedSpeech, SpeechAnalysis } from '../speech.ts';
import type { Encoded } from '../utterances.ts';
import type { Conditions } from './intervals.ts';
import type { SpeakerRecording } from './speaker.ts';

/** A signal's model: its head, and the params and labels of its manifest. */
type Head<Params> = {
  readonly session: Session;
  readonly manifest: { readonly params: Params; readonly labels: readonly string[] | null };
};

type SignalInput<Prepared = unknown> = {
  readonly speech: SpeechAnalysis;
  /** What `prepare` returned. */
  readonly prepared?: Promise<Prepared> | undefined;
};

/** An utterance, in frames, with the row of each signal. */
export type ScoredUtterance = Segment & {
  readonly speechFrames: number;
  readonly quality: SpeechQuality;
  readonly rows: Readonly<Record<string, unknown>>;
};

/** A recording of the same speaker at rest, with the rows of the signals that compare utterances. */
export type Baseline = SpeakerRecording & { readonly utterances: readonly ScoredUtterance[] };

/** The whole recording, over which signals aggregate; positions are frames. */
export type RecordingContext = Omit<SpeakerRecording, 'chunks' | 'syllables'> & {
  /** The entries of the timeline. */
  readonly utterances: readonly ScoredUtterance[];
  /** Of a stream: utterances of the same speaker before them, which the result is compared with. */
  readonly earlier?: readonly ScoredUtterance[];
  /** What each signal added up over the utterances. */
  readonly totals: Readonly<Record<string, unknown>>;
  /** Of a stream, which keeps no chunks: what each signal added up over the speech. */
  readonly speechTotals?: Readonly<Record<string, unknown>>;
  readonly conditions: Conditions;
  readonly baselines: readonly Baseline[];
};

/** The fields of a report that only this signal has. */
type SignalFields = {
  readonly signals: object;
  readonly warnings: readonly string[];
};

/** A field of `signals` as a column of the CLI output. */
type Column = {
  /** Column name in CSV. */
  readonly name: string;
  readonly field: string;
  /** Heading and width in the table for terminals. Columns without it appear only in CSV. */
  readonly table?: readonly [heading: string, width: number];
};

/** Scores of a report with enough speech, or of a part of a live session, which has `signals` alone. */
type PartialReport<Body extends BodySchema> = Pick<z.infer<Body['options'][0]>, 'signals'> &
  Partial<z.infer<Body['options'][0]>>;

/**
 * @typeParam Params of the manifest
 * @typeParam Chunk result of one chunk of a recording; chunks come in order
 * @typeParam Result of the whole recording, exact
 * @typeParam Body schema of the report but for `audio` and `request_id`
 * @typeParam Total result of the head for all utterances so far
 * @typeParam Prepared result of `prepare` for one chunk
 * @typeParam SpeechTotal what `addSpeech` adds up
 */
export type SignalDefinition<
  Params = unknown,
  Chunk = unknown,
  Result = unknown,
  Body extends BodySchema = BodySchema,
  Total = unknown,
  Prepared = unknown,
  SpeechTotal = unknown,
> = {
  /** Noun phrase for the OpenAPI document. */
  readonly title: string;
  /** Inputs and outputs of the model's graph. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly labels: z.ZodType<readonly string[] | null>;
  readonly params: z.ZodType<Params>;
  /** Whether the part `baseline` of an upload is used. */
  usesBaseline(params: Params): boolean;
  readonly body: Body;
  /** Parts of `body` that are named components of the OpenAPI document. */
  readonly components: Readonly<Record<string, z.ZodType>>;
  readonly columns: readonly Column[];
  /** Starts work of another thread that needs no embeddings, while the trunk runs. */
  prepare?(speech: SpeechAnalysis, platform: Platform): Promise<Prepared>;
  /** The head over an utterance. */
  score?(utterance: Encoded, head: Head<Params>): Promise<unknown>;
  /** The head over all utterances so far: those of `total`, null for none, and the next one. */
  addTo?(total: Total | null, utterance: Encoded, head: Head<Params>): Promise<Total>;
  /** The head over all utterances of several totals: required with `addTo`. */
  join?(totals: readonly Total[], head: Head<Params>): Promise<Total>;
  /** What the signal measures of a chunk without embeddings. */
  infer?(input: SignalInput<Prepared>, head: Head<Params>): Promise<Chunk>;
  /**
   * What a stream, which keeps no chunks, has of them: measured over the segments of its speech, after those of `total`.
   * @param total null for none
   */
  addSpeech?(total: SpeechTotal | null, speech: DetectedSpeech, head: Head<Params>): SpeechTotal;
  aggregate(chunks: readonly Chunk[], recording: RecordingContext, head: Head<Params>): Result;
  /** @param result null when there was too little speech */
  report(result: Result | null, params: Params): SignalFields;
  /** Lines of the text report of the CLI. */
  describe(report: PartialReport<Body>): readonly (readonly [label: string, value: string])[];
  /** Paragraphs that state what each score is made of, for the tool `explain`. */
  explain?(report: z.infer<Body['options'][0]>): readonly string[];
};
