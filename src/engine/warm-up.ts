/** Before the first request: the first run of a session, and of code, is slower. */
import type { Analyzer } from './analyze.ts';
import { composeReport } from './compose-report.ts';
import { replay, syntheticSampleRate, syntheticSignal } from './golden.ts';
import { defaultOptions } from './options.ts';
import { wavHeader } from './pcm.ts';
import { signals } from './signals/table.ts';

/** The longest that a trunk reads at once. The signal passes as speech. */
const seconds = 10;

/** Runs every model, and one analysis. @throws ModelError for models that do not fit together */
export async function warmUp(analyzer: Analyzer): Promise<void> {
  const samples = syntheticSignal(1, seconds);
  await replay(analyzer.models, samples.subarray(0, syntheticSampleRate));
  const format = { encoding: 'f32le', sampleRate: syntheticSampleRate, channels: 1 } as const;
  const audio = Buffer.concat([wavHeader(format, samples.byteLength), new Uint8Array(samples.buffer)]);
  // Shorter recordings may be the longest that are accepted.
  const limits = { seconds: seconds + 1 };
  const request = { ...defaultOptions, limits, audio, baselines: [], signals, cancel: null };
  JSON.stringify(composeReport(request, await analyzer.analyze(request), ''));
}
