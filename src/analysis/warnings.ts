/** Warnings about the quality of a recording. */

import type { ManifestOf } from '../models/manifest.ts';
import type { Source as DecodedSource, SignalQuality } from './platform.ts';

type Source = Pick<DecodedSource, 'channels' | 'clippedRatio' | 'channelCorrelation' | 'truncated'> & {
  /** The average of all channels was analysed, none of them alone. */
  readonly averaged: boolean;
};

type SpeechQuality = Pick<SignalQuality, 'snrDb' | 'bandwidthHz'> & {
  /** Mean log odds over the segments that they are speech and no other sound. */
  readonly voiceLogOdds: number;
  readonly severalSpeakers: boolean;
};

export type RecordingWarning =
  | 'low_snr'
  | 'clipped'
  | 'narrow_band'
  | 'music_or_noise'
  | 'channels_differ'
  | 'several_speakers'
  | 'truncated';

type Params = Pick<ManifestOf<'vad'>['params'], 'minVoice' | 'warnings'>;

/**
 * @param spoken null without speech
 * @param levelDbfs RMS of the whole recording; used only without speech
 */
export function recordingWarnings(
  source: Source,
  spoken: SpeechQuality | null,
  levelDbfs: number,
  { minVoice, warnings: bounds }: Params,
): RecordingWarning[] {
  const warnings: RecordingWarning[] = [];
  if (spoken?.snrDb != null && spoken.snrDb < bounds.minSnrDb) warnings.push('low_snr');
  if (source.clippedRatio > bounds.maxClippedRatio) warnings.push('clipped');
  if (spoken !== null && spoken.bandwidthHz < bounds.minBandwidthHz) warnings.push('narrow_band');
  if (spoken === null ? levelDbfs >= bounds.audibleDbfs : spoken.voiceLogOdds < minVoice)
    warnings.push('music_or_noise');
  if (source.averaged && source.channels > 1 && source.channelCorrelation < bounds.minChannelCorrelation)
    warnings.push('channels_differ');
  if (spoken?.severalSpeakers) warnings.push('several_speakers');
  if (source.truncated) warnings.push('truncated');
  return warnings;
}
