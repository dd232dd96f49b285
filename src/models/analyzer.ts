/** The analysis with the models of a folder. */
import { type Analyzer, analyzerOf } from '../analysis/analyze.ts';
import type { DecodeLimits } from '../analysis/platform.ts';
import { loadModels } from './folders.ts';

/** Loads every model of `modelsDir` for the calling thread. @throws ModelError */
export async function createAnalyzer(options: {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
}): Promise<Analyzer> {
  return analyzerOf(await loadModels(options.modelsDir), options.limits);
}
