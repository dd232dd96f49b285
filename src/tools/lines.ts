/** A result as one line: CSV, JSON, or a row of the table for terminals. */
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { type Cell, type Column, columnsOf, type Part, type Row } from './columns.ts';
import { titleOf } from './parts.ts';

export const csvHeader = (kind: Part['kind'] | null = null) => headerOf(columnsOf('short', kind));

export function headerOf(columns: readonly Column[]): string {
  return columns.map(({ name }) => name).join(',');
}

export function toCsv(path: string, result: FileResult, part: Part | null = null): string {
  return csvLine(columnsOf('short', part?.kind ?? null), { path, result, part });
}

/** RFC 4180, with line feeds as line breaks. */
export function csvLine(columns: readonly Column[], row: Row): string {
  return columns.map((column) => quoteField(String(column.value(row) ?? ''))).join(',');
}

export function toJsonLine(path: string, result: AnalyzeResult): string {
  return JSON.stringify('error' in result ? { path, error: result.error } : { path, ...result.report });
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The path ends the line. */
const tableColumns = columnsOf('short').flatMap(({ table, value }) =>
  table === undefined ? [] : [{ heading: table[0], width: table[1], value }],
);

export const tableHeader = `${tableColumns.map(({ heading, width }) => heading.padEnd(width)).join('  ')}  PATH`;

export function toTable(path: string, result: FileResult, part: Part | null = null): string {
  const cells = tableColumns.map(({ width, value }) =>
    formatCell(value({ path, result, part })).padEnd(width),
  );
  const reason = 'error' in result ? `: ${result.error.msg}` : '';
  return `${cells.join('  ')}  ${titleOf(path, part)}${reason}`;
}

function formatCell(value: Cell): string {
  if (value === 'insufficient_speech') return 'too short';
  return typeof value === 'number' ? value.toFixed(2) : (value ?? '-');
}
