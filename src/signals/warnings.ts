/** Faults of a recording that a reader of the scores should know, each with its bound. */

type Source = {
  readonly channels: number;
  readonly clippedRatio: number;
  readonly channelCorrelation: number;
  readonly truncated: boolean;
};
/** `snrDb` is null when there is nothing but speech to measure it on. */
type Quality = { readonly snrDb: number | null; readonly bandwidthHz: number };

export type RecordingWarning = 'low_snr' | 'clipped' | 'narrow_band' | 'channels_differ' | 'truncated';

/** Speech less than this many dB above the noise between it. */
const lowSnrDb = 10;
/** More than this share of the samples at full scale. */
const clippedRatio = 0.001;
/** Telephone speech ends at 3400 to 4000 Hz. */
const narrowBandHz = 4500;
/** Two microphones on one voice correlate; two voices on two channels do not. */
const sameVoiceCorrelation = 0.5;

/** @param quality of the speech, or null when there was too little of it to tell */
export function warnOfRecording(source: Source, quality: Quality | null): RecordingWarning[] {
  const warnings: RecordingWarning[] = [];
  if (quality !== null && quality.snrDb !== null && quality.snrDb < lowSnrDb) warnings.push('low_snr');
  if (source.clippedRatio > clippedRatio) warnings.push('clipped');
  if (quality !== null && quality.bandwidthHz < narrowBandHz) warnings.push('narrow_band');
  if (source.channels > 1 && source.channelCorrelation < sameVoiceCorrelation)
    warnings.push('channels_differ');
  if (source.truncated) warnings.push('truncated');
  return warnings;
}

/** The faults among the warnings that make scores less sure. */
export function countFaults(warnings: readonly RecordingWarning[]): number {
  return warnings.filter((name) => name === 'low_snr' || name === 'clipped' || name === 'narrow_band').length;
}
