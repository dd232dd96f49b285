/** Names and sentences for keys of the report. */
import type { Warning } from './report.ts';

const warnings: Readonly<Record<Warning, string>> = {
  low_snr:
    'Noisy: speech is less than 10 dB above the noise. Scores are less sure; record nearer to the microphone or in a quieter place.',
  clipped:
    'Clipped: parts are louder than the recording can hold. Turn the input level down and record again.',
  narrow_band:
    'Narrow band: there is nothing above 4.5 kHz, as in a telephone call. Scores are less sure; a wider recording helps.',
  channels_differ:
    'The channels are not one voice in one room. Their average was analysed: choose one channel below for one speaker.',
  truncated: 'The file ends early. It was analysed up to where it ends.',
  short_speech:
    'Short: with little speech the scores move a lot. From 3 s of speech emotion, from 10 s the cognitive signals grow steady.',
  low_confidence:
    'The most probable emotion is more likely wrong than right. Read the bars, not the one word.',
  music_or_noise: 'What was heard sounds like music or noise rather than a voice. Read no scores into it.',
  possibly_scripted:
    'Pauses are as few and runs as long as in reading aloud. Load and processing mean little for read or rehearsed speech.',
  baseline_other_speaker: 'The baseline sounds like another person. It should be the same one, at rest.',
};

export function warningSentence(name: Warning): string {
  return warnings[name];
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
