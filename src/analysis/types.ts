/** Input and result of an analysis, before the report renames and rounds its fields. */

import type { Manifest } from '../models/manifest.ts';
import type { Scored, Totals } from './encode.ts';
import type { Audio, SignalQuality } from './platform.ts';
import type { Conditions } from './signals/intervals.ts';
import type { Span, SpeakerRecording } from './signals/speaker.ts';
import type { ResultOf, Signal } from './signals/table.ts';
import type { Stage } from './stage-timer.ts';
import type { RecordingWarning } from './warnings.ts';

/** `split`: each of two channels is analysed alone. */
export const channelModes = ['split'] as const;
export type ChannelMode = (typeof channelModes)[number];

/** Speech of one speaker, in seconds. */
export type SpeakerSegment = { readonly start: number; readonly end: number; readonly speaker: string };

export const maxBaselines = 5;

/** Jobs with longer recordings have a queue of their own, s. */
export const longSeconds = 900;

/** How a recording is analysed. */
export type AnalyzeOptions = {
  /** 0-based channel, or null for the average of all. */
  readonly channel: number | null;
  /** Null: one analysis of `channel`. */
  readonly channels: ChannelMode | null;
  /** In order of their starts: one analysis per speaker. Null: one for all. */
  readonly segments: readonly SpeakerSegment[] | null;
};

export const defaultOptions: AnalyzeOptions = {
  channel: null,
  channels: null,
  segments: null,
};

export type AnalyzeRequest = AnalyzeOptions & {
  readonly audio: Uint8Array;
  /** Recordings of the same speaker at rest, at most `maxBaselines`: they make the cognitive signals relative. */
  readonly baselines: readonly Uint8Array[];
  readonly signals: readonly Signal[];
  /** Adds the hash of the samples to the analysis. */
  readonly hashSamples?: boolean;
  /** Adds the embeddings to the analysis. */
  readonly embeddings?: boolean;
  /** Longest recording, s, in place of the limit of the service. */
  readonly maxSeconds?: number | undefined;
  /** Shared with the caller: a value other than 0 cancels the analysis at the next stage. */
  readonly cancel: Int32Array | null;
  /** Called between units of work, of some 0.1 s at most: the analysis waits for it. Returns whether others ran. */
  readonly yieldToOthers?: (() => Promise<boolean>) | undefined;
};

/** The whole recording, over which signals aggregate; positions are frames. */
export type RecordingContext = Omit<SpeakerRecording, 'chunks'> & {
  /** The entries of the timeline. */
  readonly utterances: readonly Scored[];
  /** What each signal added up over the utterances. */
  readonly totals: Totals;
  readonly conditions: Conditions;
  readonly baselines: readonly SpeakerRecording[];
};

/** Mean embeddings, weighted by speech; times in seconds. */
export type PooledEmbeddings = {
  readonly recording: Float32Array;
  /** One per utterance. */
  readonly timeline: readonly {
    readonly start: number;
    readonly end: number;
    readonly embedding: Float32Array;
  }[];
};

export type Analysis = {
  readonly audio: {
    readonly seconds: number;
    readonly speechSeconds: number;
    readonly source: Audio['source'];
  } & SignalQuality;
  /** Speech of the whole recording. */
  readonly span: Span;
  /** A signal is absent when not requested, or with too little speech. */
  readonly results: { readonly [S in Signal]?: ResultOf<S> };
  /** Null when not requested, or with too little speech. */
  readonly embeddings: PooledEmbeddings | null;
  /** SHA-256 of the decoded samples, float32 of little-endian byte order; null when not requested. */
  readonly samplesSha256: string | null;
  readonly insufficientSpeech: boolean;
  readonly warnings: readonly RecordingWarning[];
  readonly models: Readonly<Record<Signal, Manifest>>;
  /** From the start of the request. */
  readonly stages: readonly Stage[];
};

/** One analysis, or one per channel or speaker. */
export type Analyses = readonly [Analysis, ...Analysis[]];
