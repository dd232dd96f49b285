/** What a reader of the scores should know of the recording, each with its bound. */

type Source = {
  readonly channels: number;
  readonly clippedRatio: number;
  readonly channelCorrelation: number;
  readonly truncated: boolean;
};

/** What there is to tell of the speech; null where there was none. */
type SpeechQuality = {
  readonly snrDb: number | null;
  readonly bandwidthHz: number;
  /** Mean log odds, over what was taken for speech, that it is speech and no other sound. */
  readonly voice: number;
};

export type RecordingWarning =
  | 'low_snr'
  | 'clipped'
  | 'narrow_band'
  | 'music_or_noise'
  | 'channels_differ'
  | 'truncated';

/** Speech less than this many dB above the noise between it. */
const lowSnrDb = 10;
/** More than this share of the samples at full scale. */
const clippedRatio = 0.001;
/** Telephone speech ends at 3400 to 4000 Hz. */
const narrowBandHz = 4500;
/** A recording without speech is no silence from this RMS level on. */
const audibleDbfs = -50;
/** Two microphones on one voice correlate; two voices on two channels do not. */
const sameVoiceCorrelation = 0.5;

/**
 * @param minVoice bound on `voice`, from the rule of the VAD model
 * @param levelDbfs RMS of the whole recording
 */
export function recordingWarnings(
  source: Source,
  spoken: SpeechQuality | null,
  levelDbfs: number,
  minVoice: number,
): RecordingWarning[] {
  const warnings: RecordingWarning[] = [];
  if (spoken?.snrDb != null && spoken.snrDb < lowSnrDb) warnings.push('low_snr');
  if (source.clippedRatio > clippedRatio) warnings.push('clipped');
  if (spoken !== null && spoken.bandwidthHz < narrowBandHz) warnings.push('narrow_band');
  if (spoken === null ? levelDbfs >= audibleDbfs : spoken.voice < minVoice) warnings.push('music_or_noise');
  if (source.channels > 1 && source.channelCorrelation < sameVoiceCorrelation)
    warnings.push('channels_differ');
  if (source.truncated) warnings.push('truncated');
  return warnings;
}
