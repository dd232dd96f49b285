/** Names and sentences for keys of the report. */
import { warnings } from '../../src/engine/warnings.ts';
import type { Warning } from './report.ts';

export function warningSentence(name: Warning): string {
  // A report of a later release may have others.
  return warnings[name]?.pageText ?? warnings[name]?.text ?? spaced(name);
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
