/** Properties of the recording, with a rating where one is possible. */
import { seconds, share } from './format.ts';
import { createFacts, row } from './measures-table.ts';
import type { AudioBlock } from './report.ts';

export function createAudioQuality(audio: AudioBlock): HTMLElement {
  const rows = [
    row('Length', seconds(audio.duration_s)),
    row('Speech', seconds(audio.speech_s)),
    row('Format', `${audio.container}, ${audio.codec}`),
    row('Sample rate', `${audio.sample_rate_hz / 1000} kHz`),
    row('Channels', String(audio.channels)),
    row('Speech over noise', noise(audio.snr_db)),
    row('Level of the speech', `${audio.level_dbfs.toFixed(1)} dBFS, ${level(audio.level_dbfs)}`),
    row('Clipped', clipped(audio.clipped_ratio)),
    row('Bandwidth', `${(audio.bandwidth_hz / 1000).toFixed(1)} kHz, ${band(audio.bandwidth_hz)}`),
  ];
  return createFacts(rows);
}

function noise(snr: number | null): string {
  if (snr === null) return 'not measurable';
  return `${snr.toFixed(1)} dB, ${snr < 10 ? 'noisy' : snr < 20 ? 'fair' : 'clean'}`;
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
