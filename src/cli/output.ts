/** The forms in which `undertone analyze` prints results. */
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { expected } from './context.ts';
import { csvHeader, csvLine, headerOf, tableHeader, titleOf, toCsv, toJsonLine, toTable } from './csv.ts';
import { partsOf } from './parts.ts';
import { describeConversation, describeReport } from './text-report.ts';
import { type Cell, columnsOf, encodeParquet, type Part, type RowUnit, rowsOf, rowUnits } from './wide.ts';

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
  /** Text after all results. */
  end?(): Promise<Uint8Array>;
};

export type OutputOptions = {
  readonly jsonl?: true;
  readonly output?: string;
  readonly wide?: true;
  readonly by?: string;
};

export const outputNames = ['text', 'table', 'csv', 'jsonl', 'parquet'] as const;
type OutputName = (typeof outputNames)[number];

/** @throws UsageError */
export function parseOutput(options: OutputOptions): { name: OutputName; by: RowUnit | null } {
  const { jsonl, output = jsonl ? 'jsonl' : 'text', by, wide } = options;
  const name = outputNames.find((one) => one === output);
  if (name === undefined)
    throw expected(`one of ${outputNames.join(', ')}`, '--output', JSON.stringify(output));
  if (jsonl && name !== 'jsonl') throw expected('jsonl beside --jsonl', '--output', output);
  const unit = rowUnits.find((one) => one === (by ?? 'file'));
  if (unit === undefined) throw expected(rowUnits.join(', '), '--by', JSON.stringify(by));
  const isWide = name === 'parquet' || wide === true || by !== undefined;
  if (isWide && name !== 'csv' && name !== 'parquet')
    throw expected('csv or parquet', '--output', `${output} beside ${wide ? '--wide' : '--by'}`);
  return { name, by: isWide ? unit : null };
}

/** @param labels of the emotion model, for wide rows */
export function createOutput(
  { name, by }: ReturnType<typeof parseOutput>,
  kind: Kind,
  labels: readonly string[],
): OutputFormat {
  if (by !== null) return wideOutput(name === 'parquet', by, kind, labels);
  const perPart =
    (format: (path: string, result: FileResult, part: Part | null) => string): OutputFormat['format'] =>
    (path, result) =>
      partsOf(result, kind)
        .map((one) => format(path, one.result, one.part))
        .join('\n');
  if (name === 'table') return { shortPaths: true, header: tableHeader, format: perPart(toTable) };
  if (name === 'csv') return { isData: true, header: csvHeader(kind), format: perPart(toCsv) };
  if (name === 'jsonl') return { listSkipped: true, format: toJsonLine };
  const text = perPart(describe);
  return {
    shortPaths: true,
    format: (path, result) => text(path, result) + describeConversation(result),
  };
}

function describe(path: string, result: FileResult, part: Part | null): string {
  if ('error' in result) return `${path}\n  failed: ${result.error.msg}`;
  return describeReport(titleOf(path, part), result.report);
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
