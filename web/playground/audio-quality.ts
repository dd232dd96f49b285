/** Properties of the recording, with a rating where one is possible. */
import { fixed, length, share } from './format.ts';
import { createFacts, row } from './measures-table.ts';
import type { AudioBlock } from './report.ts';

/** @param judged whether the sound is a voice, of which words such as quiet can be said */
export function createAudioQuality(audio: AudioBlock, judged: boolean): HTMLElement {
  const word = (text: string) => (judged ? `, ${text}` : '');
  const rows = [
    row('Length', length(audio.duration_s)),
    row('Speech', length(audio.speech_s)),
    row('Format', `${audio.container}, ${audio.codec}`),
    row('Sample rate', `${audio.sample_rate_hz / 1000} kHz`),
    row('Channels', String(audio.channels)),
    row('Speech over noise', noise(audio.snr_db)),
    row(
      judged ? 'Level of the speech' : 'Level',
      `${fixed(audio.level_dbfs, 1)} dBFS${word(level(audio.level_dbfs))}`,
    ),
    row('Clipped', clipped(audio.clipped_ratio)),
    row('Bandwidth', `${(audio.bandwidth_hz / 1000).toFixed(1)} kHz${word(band(audio.bandwidth_hz))}`),
  ];
  return createFacts(rows);
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
