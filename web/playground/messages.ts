/** Names and sentences for keys of the report. */
import { warnings } from '../../src/engine/warnings.ts';
import type { Warning } from './report.ts';

export function warningSentence(name: Warning): string {
  // A report of a later release may have others.
  return warnings[name]?.pageText ?? warnings[name]?.text ?? spaced(name);
}

/** By the key of a measure: its name, and what its number is. */
const measures: Readonly<Record<string, readonly [name: string, meaning: string]>> = {
  pause_ratio: [
    'Share of time in pauses',
    'Pauses of 0.25 s or more, as a share of speech and pauses: 0 is none, 1 is all.',
  ],
  pause_rate: ['Pauses', 'Pauses of 0.25 s or more in a minute.'],
  long_pause_rate: ['Long pauses', 'Pauses of 1 s or more in a minute.'],
  mean_pause: ['Length of a pause', 'The mean, s.'],
  mean_run: ['Speech between pauses', 'The mean length of speech from one pause to the next, s.'],
  mean_run_syllables: [
    'Syllables between pauses',
    'The mean number of syllables from one pause to the next, estimated.',
  ],
  articulation_rate: ['Rate while speaking', 'Syllables in a second of speech, pauses left out.'],
  speech_rate: ['Rate, pauses included', 'Syllables in a second of speech and pauses.'],
  rate_variability: [
    'Variation of the rate',
    'How much the rate changes from second to second, as a share of its mean: 0 is even.',
  ],
  hesitation_rate: [
    'Hesitations',
    'Filled pauses such as “um” and long vowels in a minute. No marked recordings confirm it.',
  ],
  pitch_level: ['Pitch', 'The median of the voice, Hz: higher sounds higher.'],
  pitch_range: [
    'Pitch range',
    'From the lowest to the highest tenth of the pitch: an octave is 12 semitones.',
  ],
  level_range: ['Loudness range', 'From the quietest to the loudest tenth of the voice, dB.'],
  spectral_tilt: [
    'Spectral tilt',
    'How much weaker the voice is an octave higher, dB: nearer to 0 is sharper, lower is softer.',
  ],
};

export function measureName(key: string): string {
  return measures[key]?.[0] ?? spaced(key);
}

/** Empty for a measure of a later release. */
export function measureMeaning(key: string): string {
  return measures[key]?.[1] ?? '';
}

/** `some_key` as `Some key`. */
function spaced(name: string): string {
  const words = name.replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}
