/** Options that several commands have: signals, models, baselines, jobs. */

import { availableParallelism } from 'node:os';
import { join, resolve } from 'node:path';
import { maxBaselines, type Signal, signals } from '../engine/schema.ts';
import { modelSets, shippedModels, successorsOfOpen } from '../node/paths.ts';
import { parseConfig } from '../service/config.ts';
import type { AnalyzeSettings } from './analyze-thread.ts';
import { type CliContext, expected, UsageError } from './context.ts';
import { readNamedFile } from './inputs.ts';

export type ModelOptions = { readonly models?: string; readonly modelsDir?: string };

export function parseSignals(text: string): Signal[] {
  const names = text.split(',').map((name) => name.trim());
  const wrong = names.find((name) => !signals.some((signal) => signal === name));
  if (wrong !== undefined) throw expected(signals.join(' or '), '--signals', JSON.stringify(wrong));
  return signals.filter((signal) => names.includes(signal));
}

function modelsFolder(name: string): string {
  if (name === 'open') throw expected(successorsOfOpen, '--models', 'open, which is no longer there');
  return modelSets.includes(name) ? join(shippedModels, '..', name) : resolve(name);
}

/** Of a recording that the command reads: the index of a day of packets fits into what the decoder may allocate. */
const maxSeconds = 86_400;
/** The most that Node.js reads at once. */
const maxFileBytes = 2 ** 31 - 1;

/**
 * Reads the manifests once, so that an invalid folder is one error instead of one per file. Defaults that protect a service from its
 * clients do not limit the command.
 */
export async function readSettings(
  { models, modelsDir }: ModelOptions,
  { env }: CliContext,
): Promise<AnalyzeSettings> {
  const config = parseConfig(env);
  const { readManifests } = await import('../node/models.ts');
  const { ModelError } = await import('../engine/index.ts');
  const named = models === undefined ? config.modelsDir : modelsFolder(models);
  const folder = modelsDir === undefined ? named : resolve(modelsDir);
  await readManifests(folder).catch((error: Error) => {
    throw error instanceof ModelError ? new UsageError(error.message) : error;
  });
  const seconds = env.UNDERTONE_MAX_SECONDS === undefined ? maxSeconds : config.limits.seconds;
  const maxBytes = env.UNDERTONE_JOB_MAX_BYTES === undefined ? maxFileBytes : config.jobs.maxBytes;
  return { modelsDir: folder, limits: { ...config.limits, seconds, deadlineSeconds: 0 }, maxBytes };
}

export const baselineOption = [
  '--baseline <file>',
  `the same speaker at rest: compares load, processing, valence and arousal with it; up to ${maxBaselines} times`,
] as const;

/** Of an option that may be given several times. */
export const collect = (path: string, paths: readonly string[]) => [...paths, path];

/** @throws UsageError */
export async function readBaselines(paths: readonly string[], maxBytes: number): Promise<Uint8Array[]> {
  if (paths.length > maxBaselines)
    throw expected(`at most ${maxBaselines} files`, '--baseline', String(paths.length));
  return Promise.all(paths.map((path) => readNamedFile('--baseline', path, maxBytes)));
}

export function parseJobs(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  if (!/^[1-9]\d{0,2}$/.test(text))
    throw expected('an integer from 1 to 999', '--jobs', JSON.stringify(text));
  return Number(text);
}
