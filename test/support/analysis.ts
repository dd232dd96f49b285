/** Reports straight from the analyzer, without a server. */
import { readFileSync } from 'node:fs';
import { fixture } from '../../scripts/recordings.ts';
import type { AnalyzeRequest } from '../../src/engine/analyze.ts';
import { joinArrays } from '../../src/engine/arrays.ts';
import { defaultOptions } from '../../src/engine/options.ts';
import { type CombinedReport, combinedReport } from '../../src/engine/report.ts';
import { decode } from '../../src/node/addon.ts';
import { createAnalyzer } from '../../src/node/models.ts';

export const limits = {
  seconds: 900,
  channels: 8,
  minSampleRate: 4000,
  maxSampleRate: 384_000,
  deadlineSeconds: 600,
};

export type Reporter = (audio: Uint8Array, options?: Partial<AnalyzeRequest>) => Promise<CombinedReport>;

/** Both signals of a recording, unless `options` ask for something else. */
export async function reporter(modelsDir = 'models/standard'): Promise<Reporter> {
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const request: Omit<AnalyzeRequest, 'audio'> = {
    baselines: [],
    ...defaultOptions,
    signals: ['emotion', 'cognitive'],
    cancel: null,
  };
  return async (audio, options = {}) => {
    const [analysis] = await analyzer.analyze({ ...request, audio, ...options });
    return combinedReport(analysis, 'test');
  };
}

const samplesIn = (bytes: Uint8Array) =>
  decode(bytes, { sampleRate: 16_000, channel: null, track: null, limits, cancel: null }).samples;

/** Mono samples at 16 kHz. */
export const samplesOf = (name: string): Float32Array => samplesIn(fixture(name));

/** A file of test/speech, `times` times in a row: mono samples at 16 kHz. */
export function speech(name: string, times = 1): Float32Array {
  const samples = samplesIn(readFileSync(`test/speech/${name}.flac`));
  return joinArrays(Array.from({ length: times }, () => samples));
}
