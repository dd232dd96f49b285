/**
 * Every warning is one entry: reports, the API document, the page, the command and docs/http-api.md are made from it. The page
 * imports this file, which therefore imports types alone.
 */
import type { Source as DecodedSource, SignalQuality } from './platform.ts';

/** What the warnings of a recording depend on. */
type Recording = {
  readonly source: Pick<
    DecodedSource,
    'channels' | 'clippedRatio' | 'channelCorrelation' | 'truncated' | 'unreadData' | 'tracks'
  > & {
    /** The average of all channels was analysed, none of them alone. */
    readonly averaged: boolean;
    readonly trackChosen: boolean;
    /** Of audio that the file lacks. */
    readonly missingSeconds: number;
  };
  /** Null with too little speech. */
  readonly spoken:
    | (Pick<SignalQuality, 'snrDb' | 'bandwidthHz'> & {
        /** Null: not compared, with too little speech of two utterances or more. */
        readonly severalSpeakers: boolean | null;
      })
    | null;
  /** Mean log odds over the segments that they are speech and no other sound. Null without speech. */
  readonly voiceLogOdds: number | null;
  /** RMS of the whole recording; used only without speech. */
  readonly levelDbfs: number;
};

/** Thresholds of the manifest of the VAD model. */
type Bounds = {
  readonly minVoice: number;
  readonly warnings: {
    readonly minSnrDb: number;
    readonly maxClippedRatio: number;
    readonly minBandwidthHz: number;
    readonly audibleDbfs: number;
    readonly minChannelCorrelation: number;
  };
};

type Entry = {
  /** When a report has it. */
  readonly condition: string;
  /** What it means for the scores, and what to do. */
  readonly text: string;
  /** In place of `text` on the page, whose controls have other names than the parts of a request. */
  readonly pageText?: string;
  /** The condition. Absent: a signal decides, in its file. Thresholds come from manifests. */
  readonly raised?: (recording: Recording, bounds: Bounds) => boolean;
};

/** In the order of reports. */
const entries = {
  low_snr: {
    condition: 'SNR under 10 dB',
    text: 'Noisy: the speech is hardly louder than the noise around it. Scores are less certain; record closer to the microphone or in a quieter place.',
    raised: ({ spoken }, { warnings }) => spoken?.snrDb != null && spoken.snrDb < warnings.minSnrDb,
  },
  clipped: {
    condition: 'more than 0.1 % of samples in runs at full scale, or at a lower limit of all samples',
    text: 'Too loud: the loudest parts are cut off. Lower the level of the microphone and record again.',
    raised: ({ source }, { warnings }) => source.clippedRatio > warnings.maxClippedRatio,
  },
  narrow_band: {
    condition: 'no speech energy above 4500 Hz, as in a telephone call',
    text: 'Telephone sound: the high tones of the voice are missing. Scores are less certain; record in better quality if possible.',
    raised: ({ spoken }, { warnings }) => spoken !== null && spoken.bandwidthHz < warnings.minBandwidthHz,
  },
  music_or_noise: {
    condition:
      'the detected speech sounds like another sound; or a recording above -50 dBFS has no speech at all',
    text: 'The recording sounds like music or noise rather than a voice. Ignore the scores.',
    raised: ({ voiceLogOdds, levelDbfs }, { minVoice, warnings }) =>
      voiceLogOdds === null ? levelDbfs >= warnings.audibleDbfs : voiceLogOdds < minVoice,
  },
  channels_differ: {
    condition: 'two channels that do not correlate, and whose average was analysed',
    text: 'The channels differ, and their average was analysed. Choose one with `channel`, or analyse each with `channels`.',
    pageText: 'The channels differ, and their average was analysed. Choose one below.',
    raised: ({ source }, { warnings }) =>
      source.averaged && source.channels > 1 && source.channelCorrelation < warnings.minChannelCorrelation,
  },
  several_tracks: {
    condition: 'the file has more than one audio track, and `track` chose none',
    text: 'The file has other audio tracks. The one that it marks as default, or else the first that decodes, was analysed: choose another with `track`, counted from 0.',
    pageText: 'The file has other audio tracks, and one of them was analysed. Choose another below.',
    raised: ({ source }) => source.tracks > 1 && !source.trackChosen,
  },
  several_speakers: {
    condition:
      'the speech sounds like two voices or more, of each at least 2 s and a tenth, in two utterances or more. About 1 call of two voices in 30, with models/fast 1 in 7, has no warning ([models.md](models.md#several-speakers))',
    text: 'The recording sounds like more than one speaker: the scores are an average of their voices. Analyse each with `speakers`, `segments` or `channels`.',
    pageText:
      'The recording sounds like more than one speaker: the scores are an average of their voices. Choose their number below.',
    raised: ({ spoken }) => spoken?.severalSpeakers === true,
  },
  speakers_not_compared: {
    condition:
      'two utterances or more with too little speech to compare their voices: under 4 s, or only one of 0.8 s or more',
    text: 'Too little speech to compare voices: there may be more than one speaker. The scores are an average of all speech.',
    raised: ({ spoken }) => spoken?.severalSpeakers === null,
  },
  truncated: {
    condition: 'the file ends early',
    text: 'The file ends early. The part before its end was analysed.',
    raised: ({ source }) => source.truncated,
  },
  unread_data: {
    condition: 'a second file follows the first, or frames are damaged',
    text: 'Part of the file was left out: a second file after the first, or damaged parts. Send each recording as a file, from its source.',
    raised: ({ source }) => source.unreadData,
  },
  gaps: {
    condition:
      'the timestamps of the file leave out audio: more than 2 s, or a part of speech; `gaps_s` has the seconds. Shorter gaps in pauses are silence that was not sent',
    text: 'Audio is missing inside the recording. Times are kept, and no pause is measured there.',
    raised: ({ source }) => source.missingSeconds > 0,
  },
  short_speech: {
    condition: 'under 3 s of speech for emotion, 10 s for cognitive',
    text: 'Short: scores of little speech vary. Emotion is stable from 3 s of speech, clarity from 10 s.',
  },
  insufficient_speech_cognitive: {
    condition:
      'under 10 s of speech, or an interval of `cognitive_load` or `processing` wider than 0.65: `status` is `ok`, and both are given with their contributions and wide `intervals`',
    text: 'Too little speech for load and processing: their ranges are wide. Record half a minute of speech.',
  },
  uncalibrated: {
    condition: 'models of [other makers](your-model.md) that no labelled recordings have calibrated yet',
    text: 'The scores come from a model that was not calibrated, which means fitted to recordings with known answers: they may be too high or too low, and moments, unlike_training and ranges of emotion are not fitted. `undertone adapt` calibrates it on labelled recordings.',
    pageText:
      'The scores come from a model that was not calibrated, which means fitted to recordings with known answers: they may be too high or too low, and there are no moments.',
  },
  low_confidence: {
    condition: 'at such a probability the dominant emotion is wrong more often than right',
    text: 'No emotion stands out: the most probable one is more likely wrong than right. Compare the probabilities.',
  },
  unlike_training: {
    condition: 'the voice is unlike the recordings that the emotion model was trained on',
    text: 'The voice is unlike the recordings that the emotion model learned from. Do not rely on its scores: record again near the microphone, or compare several recordings.',
  },
  possibly_scripted: {
    condition:
      'at least 10 s of speech with a mean run of at least 3 s and at most 20 % pauses, as in three in five recordings of reading and 1 of 8 of meetings',
    text: 'Pauses, and the speech between them, are like those of reading aloud. Load and processing mean little for read or rehearsed speech.',
  },
  baseline_other_speaker: {
    condition: 'the baseline sounds like another speaker, or another microphone ([measures.md](measures.md))',
    text: 'The baseline sounds like another speaker. Record the same speaker at rest.',
  },
} as const satisfies Readonly<Record<string, Entry>>;

export type Warning = keyof typeof entries;

export const warnings: Readonly<Record<Warning, Entry>> = entries;
export const warningNames = Object.keys(warnings) as Warning[];

/** The warnings about the quality of a recording. */
export function recordingWarnings(recording: Recording, bounds: Bounds): Warning[] {
  return warningNames.filter((name) => warnings[name].raised?.(recording, bounds));
}
