/** Recordings that are scored wrongly (models/failures), and the scores that a folder of models gives to them (failures.json). */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Analyzer } from '../analysis/analyze.ts';
import { combinedReport } from '../analysis/report.ts';
import { signals } from '../analysis/signals/table.ts';
import { defaultOptions } from '../analysis/speakers.ts';
import { readOptionalJson } from '../models/model-files.ts';
import { failuresFolder } from '../runtime/paths.ts';

const answersFile = 'failures.json';

const failuresSchema = z.array(
  z.strictObject({
    file: z.string().regex(/^[\w-]+\.flac$/),
    title: z.string(),
    /** What the recording is, and what is wrong about its scores. */
    about: z.string(),
  }),
);

/** By signal. */
const answer = z.record(
  z.string(),
  z.strictObject({ signals: z.looseObject({}), warnings: z.array(z.string()) }),
);
const answersSchema = z.record(z.string(), answer);

export type Failure = Readonly<z.infer<typeof failuresSchema>[number]>;
/** By file name. */
export type Answers = Readonly<z.infer<typeof answersSchema>>;
export type Answer = Readonly<z.infer<typeof answer>>;

export async function readFailures(): Promise<readonly Failure[]> {
  return failuresSchema.parse(JSON.parse(await readFile(join(failuresFolder, 'index.json'), 'utf8')));
}

/** FLAC, 16 kHz mono. */
export function readRecording({ file }: Failure): Promise<Buffer> {
  return readFile(join(failuresFolder, file));
}

/** Returns null where these models have no answers. */
export async function readFailureScores(modelsDir: string): Promise<Answers | null> {
  const json = await readOptionalJson(modelsDir, answersFile);
  return json === null ? null : answersSchema.parse(json);
}

/** Returns the part of the report that failures.json has. */
export async function analyzeFailure(analyzer: Analyzer, failure: Failure): Promise<Answer> {
  const audio = await readRecording(failure);
  const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null };
  const [analysis] = await analyzer.analyze(request);
  const report = combinedReport(analysis, '');
  return Object.fromEntries(
    signals.map((signal) => {
      const { signals: scores, warnings } = report[signal];
      return [signal, { signals: scores, warnings: [...warnings] }];
    }),
  );
}
