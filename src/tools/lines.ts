/** A result as one line: CSV or JSON. */
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { type Column, columnsOf, type Part, type Row } from './tables.ts';

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
