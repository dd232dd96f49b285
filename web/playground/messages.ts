/** Names and sentences for keys of the report. */
import type { Warning } from './report.ts';

const warnings: Readonly<Record<Warning, string>> = {
  low_snr:
    'Noisy: speech is less than 10 dB above the noise. Scores are less certain; record closer to the microphone or in a quieter place.',
  clipped: 'Clipped: parts exceed full scale. Lower the input level and record again.',
  narrow_band:
    'Narrow band: nothing above 4.5 kHz, as in a telephone call. Scores are less certain; record at full bandwidth if possible.',
  channels_differ:
    'The channels differ. Their average was analysed: choose one channel beside the waveform to analyse one speaker.',
  several_speakers: 'The recording sounds like more than one speaker: the scores are a mean of their voices.',
  truncated: 'The file is truncated. The part before its end was analysed.',
  short_speech:
    'Short: scores of little speech vary. Emotion is stable from 3 s of speech, clarity from 10 s.',
  insufficient_speech_cognitive:
    'Too little speech for load and processing: their intervals are wide, and they tell little. Record half a minute of speech.',
  low_confidence:
    'No emotion stands out: the most probable one is more likely wrong than right. Compare the bars below.',
  unlike_training:
    'The voice is unlike the recordings that the emotion model was trained on. Do not rely on its scores: record again near the microphone, or compare several recordings.',
  music_or_noise: 'The recording sounds like music or noise rather than a voice. Ignore the scores.',
  possibly_scripted:
    'Pauses and runs are like those of reading aloud. Load and processing mean little for read or rehearsed speech.',
  baseline_other_speaker: 'The baseline sounds like another speaker. Record the same speaker at rest.',
};

export function warningSentence(name: Warning): string {
  return warnings[name] ?? spaced(name);
}

const measures: Readonly<Record<string, string>> = {
  pause_ratio: 'Share of time in pauses',
  pause_rate: 'Pauses',
  long_pause_rate: 'Long pauses',
  mean_pause: 'Mean pause',
  mean_run: 'Mean run between pauses',
  mean_run_syllables: 'Syllables in a run',
  articulation_rate: 'Rate while speaking',
  speech_rate: 'Rate, pauses included',
  rate_variability: 'Variation of the rate',
  hesitation_rate: 'Hesitations',
  pitch_level: 'Pitch level',
  pitch_range: 'Pitch range',
  level_range: 'Loudness range',
  spectral_tilt: 'Spectral tilt',
};

export function measureName(name: string): string {
  return measures[name] ?? spaced(name);
}

/** `some_key` as `Some key`. */
function spaced(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
