/** Measures and properties of a recording as tables: a name with its explanation, and a value. */
import { element } from '../elements.ts';
import { term } from './explained.ts';
import { fixed, length, quantity, share } from './format.ts';
import { measureMeaning, measureName } from './messages.ts';
import type { AudioBlock, Cognitive } from './report.ts';
import type { Rules } from './rules.ts';

export function createMeasuresTable(
  measures: Cognitive['measures'],
  reference: Rules['reference'],
): HTMLElement {
  const rows = Object.entries(measures).map(([name, { value, unit, validated }]) => {
    const usual = reference[name];
    const median =
      usual === undefined
        ? ''
        : ` Median of the reference recordings: ${quantity(usual.median, usual.unit)}.`;
    return row(
      `${measureName(name)}${validated === false ? ' (not validated)' : ''}`,
      quantity(value, unit),
      `${measureMeaning(name)}${median}`,
    );
  });
  return createTable(rows);
}

/**
 * Properties of the recording, with a rating where one is possible.
 * @param judged whether the sound is a voice, of which words such as quiet can be said
 */
export function createSoundTable(audio: AudioBlock, judged: boolean): HTMLElement {
  const word = (text: string) => (judged ? `, ${text}` : '');
  return createTable([
    row('Length', length(audio.duration_s)),
    row('Speech', length(audio.speech_s), 'Without pauses of 0.25 s or more.'),
    row('Format', `${audio.container}, ${audio.codec}`),
    row(
      'Sample rate',
      `${audio.sample_rate_hz / 1000} kHz`,
      'Samples in a second, thousands. The analysis uses 16 kHz.',
    ),
    row('Channels', String(audio.channels)),
    row(
      'Speech over noise',
      noise(audio.snr_db),
      'Level of the speech above the noise in pauses, 0 to 60 dB: under 10 is noisy, from 20 clean.',
    ),
    row(
      judged ? 'Level of the speech' : 'Level',
      `${fixed(audio.level_dbfs, 1)} dBFS${word(level(audio.level_dbfs))}`,
      '0 dBFS is the loudest that the format holds: under −30 is quiet, under −40 very quiet.',
    ),
    row(
      'Clipped',
      clipped(audio.clipped_ratio),
      'Share of samples at full scale: more than 0.1 % is a warning.',
    ),
    row(
      'Bandwidth',
      `${(audio.bandwidth_hz / 1000).toFixed(1)} kHz${word(band(audio.bandwidth_hz))}`,
      'The highest frequency with speech, at most 8 kHz: under 4.5 is like a telephone.',
    ),
  ]);
}

/** Long values break. */
function createTable(rows: readonly HTMLElement[]): HTMLElement {
  return element('table', { class: 'facts' }, element('tbody', {}, ...rows));
}

function row(name: string, value: string, explanation: string | null = null): HTMLElement {
  const title = explanation === null ? name : term(explanation, name);
  return element('tr', {}, element('th', { scope: 'row' }, title), element('td', { class: 'number' }, value));
}

function noise(snr: number | null): string {
  if (snr === null) return 'not measurable';
  return `${fixed(snr, 1)} dB, ${snr < 10 ? 'noisy' : snr < 20 ? 'fair' : 'clean'}`;
}

function level(dbfs: number): string {
  return dbfs < -40 ? 'very quiet' : dbfs < -30 ? 'quiet' : 'good';
}

function clipped(ratio: number): string {
  if (ratio === 0) return 'nothing';
  return ratio < 0.001 ? 'hardly anything' : share(ratio);
}

function band(hz: number): string {
  return hz < 4500 ? 'like a telephone' : 'wide';
}
