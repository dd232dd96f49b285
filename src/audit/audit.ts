/** Repeats, on this machine, what the cards and examples of a folder of models promise. */
import type { Analyzer } from '../analysis/analyze.ts';
import type { DecodeLimits } from '../analysis/platform.ts';
import { combinedReport } from '../analysis/report.ts';
import { signals } from '../analysis/signals/table.ts';
import { defaultOptions } from '../analysis/types.ts';
import { createAnalyzer, readGolden } from '../models/folders.ts';
import { goldenDifferences, kinds } from '../models/golden.ts';
import type { Manifest } from '../models/manifest.ts';
import { canonicalBytes } from '../receipts/canonical.ts';
import type { Software } from '../receipts/receipt.ts';
import { describeSoftware } from '../receipts/software.ts';
import { largestDifference, tolerance } from '../receipts/verify.ts';
import {
  type Answer,
  type Answers,
  answerOf,
  type Failure,
  readFailureScores,
  readFailures,
  readRecording,
} from '../trust/failures.ts';
import { type Environment, type FigureRow, figureTolerance, measureFigures } from './figures.ts';

type Outcome = 'identical' | 'within tolerance' | 'different';

/** A model on the synthetic signal of its golden.json. */
export type GoldenRow = {
  readonly model: string;
  readonly outcome: 'agrees' | 'different';
  readonly differences: readonly string[];
};

/** A shipped recording against the answer in failures.json. */
export type RecordingRow = {
  readonly file: string;
  readonly outcome: Outcome;
  /** The score that differs most, and by how much; infinite when a text differs. */
  readonly field: string;
  readonly difference: number;
};

export type Audit = {
  readonly software: Software;
  readonly manifests: readonly Manifest[];
  readonly goldens: readonly GoldenRow[];
  /** Null: the models have no answers. */
  readonly recordings: readonly RecordingRow[] | null;
  /** Null: no labelled recordings were given. */
  readonly figures: readonly FigureRow[] | null;
};

export type AuditOptions = {
  readonly modelsDir: string;
  readonly limits: DecodeLimits;
  /** Folder of the labelled recordings; null skips the figures. */
  readonly data: string | null;
  /** Of training/evaluate. */
  readonly env: Environment;
  /** Called with the name of each part before it runs. */
  readonly onStart: (part: string) => void;
};

export async function runAudit({ modelsDir, limits, data, env, onStart }: AuditOptions): Promise<Audit> {
  const analyzer = await createAnalyzer({ modelsDir, limits });
  const { models } = analyzer;
  const manifests = kinds.map((kind) => models[kind].manifest);
  onStart('goldens');
  const goldens: GoldenRow[] = [];
  for (const kind of kinds) {
    const differences = await goldenDifferences(models, await readGolden(modelsDir, kind), kind);
    goldens.push({ model: kind, outcome: differences.length === 0 ? 'agrees' : 'different', differences });
  }
  onStart('recordings');
  const answers = await readFailureScores(modelsDir);
  const recordings = answers && (await replayRecordings(analyzer, answers));
  if (data !== null) onStart('figures');
  const figures = data === null ? null : await measureFigures({ modelsDir, data, manifests, env });
  return { software: describeSoftware(models), manifests, goldens, recordings, figures };
}

export function hasPassed({ goldens, recordings, figures }: Audit): boolean {
  return (
    [...goldens, ...(recordings ?? [])].every(({ outcome }) => outcome !== 'different') &&
    (figures ?? []).every(({ difference }) => difference <= figureTolerance)
  );
}

async function replayRecordings(analyzer: Analyzer, answers: Answers): Promise<RecordingRow[]> {
  const rows: RecordingRow[] = [];
  for (const failure of await readFailures()) {
    rows.push(compare(failure.file, answers[failure.file], await analyzeFailure(analyzer, failure)));
  }
  return rows;
}

export async function analyzeFailure(analyzer: Analyzer, failure: Failure): Promise<Answer> {
  const audio = await readRecording(failure);
  const request = { ...defaultOptions, audio, baselines: [], signals, cancel: null };
  const [analysis] = await analyzer.analyze(request);
  return answerOf(combinedReport(analysis, ''));
}

/** Scores are compared as JSON has them. */
function compare(file: string, expected: object | undefined, got: object): RecordingRow {
  if (expected !== undefined && canonicalBytes(expected).equals(canonicalBytes(got)))
    return { file, outcome: 'identical', field: '', difference: 0 };
  const [field, difference] = largestDifference(expected ?? null, got);
  return { file, outcome: difference <= tolerance ? 'within tolerance' : 'different', field, difference };
}
