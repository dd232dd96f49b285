/** What a caller chooses: the track, channel and speakers of a recording that are analysed. */
import type { SpeakerMode } from './voices.ts';

/** `split`: each of two channels is analysed alone. */
export const channelModes = ['split'] as const;
type ChannelMode = (typeof channelModes)[number];

/** Speech of one speaker, in seconds. */
export type SpeakerSegment = { readonly start: number; readonly end: number; readonly speaker: string };

/** How a recording is analysed. */
export type AnalyzeOptions = {
  /** 0-based channel, or null for the average of all. */
  readonly channel: number | null;
  /** 0-based audio track; null: the one that the file marks as default, else the first that decodes. */
  readonly track: number | null;
  /** Null: one analysis of `channel`. */
  readonly channels: ChannelMode | null;
  /** In order of their starts: one analysis per speaker. Null: one for all. */
  readonly segments: readonly SpeakerSegment[] | null;
  /** Not null: one analysis per voice. At most one of `channels`, `segments` and `speakers` is not null. */
  readonly speakers: SpeakerMode | null;
  /** What raw data the sender of `audio` declares, for the error about bytes of no known format. */
  readonly declared?: string | undefined;
};

export const defaultOptions: AnalyzeOptions = {
  channel: null,
  track: null,
  channels: null,
  segments: null,
  speakers: null,
};

/** Jobs with longer recordings wait in a separate queue, s. */
export const longSeconds = 900;

/** Recordings of the speaker at rest that a request may have. */
export const maxBaselines = 5;
