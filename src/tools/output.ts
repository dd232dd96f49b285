/** The forms in which `undertone analyze` prints results. */
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { tiersOf, toLabels, toTextGrid, unassignedTiers } from './annotations.ts';
import { type Cell, type Column, columnsOf, type Part, type Row, type RowUnit, rowUnits } from './columns.ts';
import { expected } from './context.ts';
import { csvHeader, csvLine, headerOf, tableHeader, toCsv, toJsonLine, toTable } from './lines.ts';
import { partsOf, titleOf } from './parts.ts';
import { describeConversation, describeReport } from './report-text.ts';

type Kind = Part['kind'] | null;

export type OutputFormat = {
  /** For people: paths relative to the working directory. */
  readonly shortPaths?: true;
  readonly listSkipped?: true;
  /** Written as it is to a file or a pipe. */
  readonly isData?: true;
  readonly header?: string;
  /** Undefined: nothing to print. */
  format(path: string, result: AnalyzeResult): string | undefined;
  /** Of a file per recording; failed recordings have none. */
  readonly extension?: string;
  /** Text after all results. */
  end?(): Promise<Uint8Array>;
};

export type OutputOptions = {
  readonly jsonl?: true;
  readonly output?: string;
  readonly wide?: true;
  readonly by?: string;
};

export const outputNames = ['text', 'table', 'csv', 'jsonl', 'parquet', 'textgrid', 'audacity'] as const;
export type OutputName = (typeof outputNames)[number];

/** @throws UsageError */
export function parseOutput(options: OutputOptions): { name: OutputName; by: RowUnit | null } {
  const { jsonl, output = jsonl ? 'jsonl' : 'text', by, wide } = options;
  const name = outputNames.find((one) => one === output);
  if (name === undefined)
    throw expected(`one of ${outputNames.join(', ')}`, '--output', JSON.stringify(output));
  if (jsonl && name !== 'jsonl') throw expected('jsonl with --jsonl', '--output', output);
  const unit = rowUnits.find((one) => one === (by ?? 'file'));
  if (unit === undefined) throw expected(rowUnits.join(', '), '--by', JSON.stringify(by));
  const isWide = name === 'parquet' || wide === true || by !== undefined;
  if (isWide && name !== 'csv' && name !== 'parquet')
    throw expected('csv or parquet', '--output', `${output} with ${wide ? '--wide' : '--by'}`);
  return { name, by: isWide ? unit : null };
}

type PartFormat = (path: string, result: FileResult, part: Part | null) => string;

/** A line for each channel or speaker. */
const formatParts = (format: PartFormat, kind: Kind) => (path: string, result: AnalyzeResult) =>
  partsOf(result, kind)
    .map((one) => format(path, one.result, one.part))
    .join('\n');

export const csvPerPart = (kind: Kind) => formatParts(toCsv, kind);

/** @param labels of the emotion model, for wide rows */
export function createOutput(
  { name, by }: ReturnType<typeof parseOutput>,
  kind: Kind,
  labels: readonly string[],
): OutputFormat {
  if (by !== null) return wideOutput(name === 'parquet', by, kind, labels);
  const perPart = (format: PartFormat) => formatParts(format, kind);
  if (name === 'table') return { shortPaths: true, header: tableHeader, format: perPart(toTable) };
  if (name === 'csv') return { isData: true, header: csvHeader(kind), format: csvPerPart(kind) };
  if (name === 'jsonl') return { listSkipped: true, format: toJsonLine };
  if (name === 'textgrid') return annotationOutput('.TextGrid', toTextGrid, kind);
  if (name === 'audacity') return annotationOutput('.txt', (_, tiers) => toLabels(tiers), kind);
  return { shortPaths: true, format: (path, result) => describeResult(path, result, kind) };
}

/** A few lines for each channel or speaker, and those of their conversation. */
export const describeResult = (path: string, result: AnalyzeResult, kind: Kind = null): string =>
  formatParts(describe, kind)(path, result) + describeConversation(result);

function annotationOutput(extension: string, write: typeof toTextGrid, kind: Kind): OutputFormat {
  return {
    isData: true,
    extension,
    format(_path, result) {
      if ('error' in result) return undefined;
      const tiers = partsOf(result, kind).flatMap(({ result: one, part }) =>
        'error' in one ? [] : tiersOf(one.report, part?.name),
      );
      return write(result.report.audio.duration_s, [...tiers, ...unassignedTiers(result.report)]).trimEnd();
    },
  };
}

function describe(path: string, result: FileResult, part: Part | null): string {
  if ('error' in result) return `${path}\n  failed: ${result.error.msg}`;
  return describeReport(titleOf(path, part), result.report);
}

/** One row for a file that failed. */
function rowsOf(by: RowUnit, path: string, result: FileResult, part: Part | null): Row[] {
  const row = { path, result, part };
  if ('error' in result || by === 'file') return [row];
  const { segments, emotion } = result.report;
  if (by === 'segment') return segments.map((segment) => ({ ...row, segment }));
  return (emotion?.timeline ?? []).map((_, utterance) => ({ ...row, utterance }));
}

function wideOutput(parquet: boolean, by: RowUnit, kind: Kind, labels: readonly string[]): OutputFormat {
  const columns = columnsOf(by, kind, labels);
  const all = (path: string, result: AnalyzeResult) =>
    partsOf(result, kind).flatMap((one) => rowsOf(by, path, one.result, one.part));
  if (!parquet) {
    return {
      isData: true,
      header: headerOf(columns),
      format: (path, result) =>
        all(path, result)
          .map((row) => csvLine(columns, row))
          .join('\n') || undefined,
    };
  }
  const rows: Cell[][] = [];
  return {
    format(path, result) {
      rows.push(...all(path, result).map((row) => columns.map((column) => column.value(row))));
      return undefined;
    },
    end: () => encodeParquet(columns, rows),
  };
}

/** A Parquet file. @param rows of all recordings, with a cell per column */
async function encodeParquet(
  columns: readonly Column[],
  rows: readonly (readonly Cell[])[],
): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import('hyparquet-writer');
  const columnData = columns.map(({ name, type }, at) => ({
    name,
    type,
    data: rows.map((row) => row[at] ?? null),
  }));
  return new Uint8Array(parquetWriteBuffer({ columnData, createdBy: 'undertone' }));
}
