/** Feature specs by name. Samples are in [-1, 1]; Kaldi's programs scale by 32768, which adds a constant. */
import type { FeatureSpec } from '../engine/index.ts';

/** Whisper's front end up to the logarithm, the input of the VAD model and of Whisper's layers. */
const whisper: FeatureSpec = {
  sampleRate: 16_000,
  winLength: 400,
  hopLength: 160,
  padding: 'reflect-center',
  dropLast: true,
  removeDc: false,
  preemphasis: 0,
  window: 'hann',
  windowPeriodic: true,
  nFft: 400,
  spectrum: 'power',
  nMels: 80,
  lowHz: 0,
  highHz: 8000,
  melScale: 'slaney',
  melNorm: 'slaney',
  melTriangles: 'hz',
  logBase: '10',
  logFloor: 1e-10,
  topDb: null,
  offset: 0,
  scale: 1,
  nMfcc: null,
  lifter: 0,
  energy: 'none',
};

/** Kaldi's compute-fbank-feats with 80 bins and without dither. */
const kaldi: FeatureSpec = {
  ...whisper,
  padding: 'none',
  dropLast: false,
  removeDc: true,
  preemphasis: 0.97,
  window: 'povey',
  windowPeriodic: false,
  nFft: 512,
  lowHz: 20,
  melScale: 'htk',
  melNorm: 'none',
  melTriangles: 'mel',
  logBase: 'e',
  logFloor: 2 ** -23,
};

const presets = {
  'whisper-log-mel-80': whisper,
  /** The input of Whisper's encoder: floored 80 dB below the maximum of the recording, then (x + 4) / 4. */
  'whisper-input-80': { ...whisper, topDb: 80, offset: 4, scale: 0.25 },
  'kaldi-log-mel-80': kaldi,
  /** Kaldi's compute-mfcc-feats: 23 bins, lifter 22, log energy in place of coefficient 0. */
  'kaldi-mfcc-13': { ...kaldi, nMels: 23, nMfcc: 13, lifter: 22, energy: 'log' },
  /** librosa's power_to_db(melspectrogram(n_fft=400, hop_length=160, n_mels=80, pad_mode='reflect')). */
  'librosa-log-mel-80': { ...whisper, dropLast: false, topDb: 80, scale: 10 },
} satisfies Readonly<Record<string, FeatureSpec>>;

export type SpecName = keyof typeof presets;
export const specs: Readonly<Record<SpecName, FeatureSpec>> = presets;

/** The name of the tracks of `prosodyColumns`, one row per 10 ms. */
export const prosody = 'prosody';
export const prosodyColumns = [
  { track: 'pitchHz', unit: 'Hz', description: 'Pitch; 0 where unvoiced.' },
  { track: 'levelDb', unit: 'dBFS', description: 'Level.' },
  { track: 'tiltDb', unit: 'dB/octave', description: 'Spectral tilt.' },
] as const;
