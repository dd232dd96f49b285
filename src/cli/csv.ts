/** A result as one line: CSV, JSON or a row of a table. */
import { definitions, type Signal, signals } from '../analysis/signals/table.ts';
import type { Report } from '../index.ts';
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';

type Cell = string | number | null;
/** Seconds, and scores from 0 to 1, as in the reports; absent without a value. */
export type Row = Readonly<Record<string, Cell>>;

const signalColumns = signals.flatMap((signal) => definitions[signal].columns);
const columns = [
  'path',
  'status',
  'duration_s',
  'speech_s',
  ...signalColumns.map(({ name }) => name),
  'warnings',
  'error',
];

/** A channel or a speaker of a recording. */
export type Part = { readonly kind: 'channel' | 'speaker'; readonly name: string };

const columnsOf = (kind: Part['kind'] | null) => (kind === null ? columns : columns.toSpliced(1, 0, kind));

export const csvHeader = (kind: Part['kind'] | null = null) => columnsOf(kind).join(',');

/** RFC 4180, with line feeds as line breaks. */
export function toCsv(path: string, result: FileResult, part: Part | null = null): string {
  const row = { ...toRow(path, result), ...(part && { [part.kind]: part.name }) };
  return csvLine(columnsOf(part?.kind ?? null), row);
}

export function csvLine(names: readonly string[], row: Row): string {
  return names.map((name) => quoteField(String(row[name] ?? ''))).join(',');
}

/** Columns of the table for terminals: name, heading and width. The path ends the line. */
const tableColumns: readonly (readonly [string, string, number])[] = [
  ['status', 'STATUS', 10],
  ['speech_s', 'SPEECH', 7],
  ...signalColumns.flatMap(({ name, table }) => (table === undefined ? [] : [[name, ...table] as const])),
];

export function toJsonLine(path: string, result: AnalyzeResult): string {
  return JSON.stringify('error' in result ? { path, error: result.error } : { path, ...result.report });
}

export const tableHeader = `${tableColumns.map(([, heading, width]) => heading.padEnd(width)).join('  ')}  PATH`;

export function toTable(path: string, result: FileResult, part: Part | null = null): string {
  const row = toRow(path, result);
  const cells = tableColumns.map(([name, , width]) => formatCell(row[name]).padEnd(width));
  return `${cells.join('  ')}  ${titleOf(path, part)}${row.error === undefined ? '' : `: ${row.error}`}`;
}

/** The path, and the channel or the speaker. */
export function titleOf(path: string, part: Part | null): string {
  return part === null || part.name === '' ? path : `${path} (${part.kind} ${part.name})`;
}

/** The signals of a report, in the order of the table of signals. */
export function reportsOf(report: Report): (readonly [Signal, NonNullable<Report[Signal]>])[] {
  return signals.flatMap((signal) =>
    report[signal] === undefined ? [] : [[signal, report[signal]] as const],
  );
}

/** Warnings of all signals, each once. */
export function warningsOf(report: Report): string[] {
  return [...new Set(reportsOf(report).flatMap(([, { warnings }]) => warnings))];
}

export function toRow(path: string, result: FileResult): Row {
  if ('error' in result) return { path, status: 'failed', error: result.error.msg };
  const { report } = result;
  const reports = reportsOf(report);
  return {
    path,
    status: statusOf(reports.map(([, { status }]) => status)),
    duration_s: report.audio.duration_s,
    speech_s: report.audio.speech_s,
    ...Object.assign({}, ...reports.map(([signal, { signals }]) => toCells(signal, signals))),
    warnings: warningsOf(report).join(' '),
  };
}

/** Of the recording: that of the signals that the models have. */
function statusOf(all: readonly NonNullable<Report[Signal]>['status'][]): string | null {
  return all.find((status) => status !== 'not_available') ?? all[0] ?? null;
}

function toCells(signal: Signal, scores: object): Row {
  const fields = scores as Row;
  return Object.fromEntries(
    definitions[signal].columns.map(({ name, field }) => [name, fields[field] ?? null]),
  );
}

function quoteField(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function formatCell(value: Cell | undefined): string {
  if (value === 'insufficient_speech') return 'too short';
  return typeof value === 'number' ? value.toFixed(2) : (value ?? '-');
}
