/** What an analysis is asked, and what it answers, before the report gives it names and rounding. */
import type { Audio, Quality } from './audio.ts';
import type { Manifest } from './models/manifest.ts';
import type { Index } from './signals/indices.ts';
import type { Interval } from './signals/intervals.ts';
import type { Measures } from './signals/measures.ts';
import type { RecordingWarning } from './signals/warnings.ts';
import type { Stage } from './watch.ts';

export const signals = ['emotion', 'cognitive'] as const;
export type Signal = (typeof signals)[number];

export type AnalyzeRequest = {
  readonly audio: Uint8Array;
  /** The same speaker, rested: makes the cognitive signals relative. */
  readonly baseline: Uint8Array | null;
  /** 0-based channel, or null for the average of all. */
  readonly channel: number | null;
  readonly signals: readonly Signal[];
  /** Shared with the caller: a value other than 0 stops the work at the next stage. */
  readonly cancel: Int32Array | null;
};

export type EmotionScores = {
  readonly start: number;
  readonly end: number;
  readonly probabilities: readonly number[];
  readonly valence: number;
  readonly arousal: number;
};

export type EmotionResult = Omit<EmotionScores, 'start' | 'end'> & {
  readonly labels: readonly string[];
  readonly intervals: { readonly valence: Interval; readonly arousal: Interval };
  readonly timeline: readonly EmotionScores[];
  readonly lowConfidence: boolean;
  readonly shortSpeech: boolean;
};

export type CognitiveResult = {
  readonly clarity: number;
  readonly intervals: { readonly clarity: Interval };
  readonly cognitiveLoad: Index;
  readonly processing: Index;
  readonly measures: Measures;
  readonly timeline: readonly { readonly start: number; readonly end: number; readonly clarity: number }[];
  readonly confidence: number;
  readonly relative: boolean;
  /** The baseline sounds like somebody else. */
  readonly otherSpeaker: boolean;
  readonly shortSpeech: boolean;
  readonly scripted: boolean;
};

export type Analysis = {
  readonly audio: {
    readonly seconds: number;
    readonly speechSeconds: number;
    readonly source: Audio['source'];
  } & Quality;
  /** Null when there was too little speech, or when the signal was not asked for. */
  readonly emotion: EmotionResult | null;
  readonly cognitive: CognitiveResult | null;
  readonly insufficientSpeech: boolean;
  readonly warnings: readonly RecordingWarning[];
  readonly models: Readonly<Record<Signal, Manifest>>;
  readonly stages: readonly Stage[];
};
