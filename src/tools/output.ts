/** The forms in which results are printed and written. */

import { existsSync } from 'node:fs';
import { basename, dirname, extname, resolve } from 'node:path';
import { definitions } from '../engine/schema.ts';
import { ensureDir, writeParts } from '../node/files.ts';
import { encodeNpy } from '../node/npy.ts';
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { tiersOf, toLabels, toTextGrid } from './annotations.ts';
import { expected } from './context.ts';
import type { Report } from './index.ts';
import type { Input } from './inputs.ts';
import { csvHeader, csvLine, headerOf, toCsv, toJsonLine } from './lines.ts';
import { partsOf, titleOf } from './parts.ts';
import {
  type Cell,
  type Column,
  columnsOf,
  type Part,
  type Row,
  type RowUnit,
  reportsOf,
  rowUnits,
  warningsOf,
} from './tables.ts';

// The forms in which `undertone analyze` prints results.

type Kind = Part['kind'] | null;

type OutputFormat = {
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
  const text = perPart(describe);
  return {
    shortPaths: true,
    format: (path, result) => text(path, result) + describeConversation(result),
  };
}

function annotationOutput(extension: string, write: typeof toTextGrid, kind: Kind): OutputFormat {
  return {
    isData: true,
    extension,
    format(_path, result) {
      if ('error' in result) return undefined;
      const tiers = partsOf(result, kind).flatMap(({ result: own, part }) =>
        'error' in own ? [] : tiersOf(own.report, part?.name),
      );
      return write(result.report.audio.duration_s, tiers).trimEnd();
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

// A report as a few lines of text.

const labelWidth = 16;

export function describeReport(path: string, report: Report): string {
  const { speech_s, duration_s, container, codec } = report.audio;
  const warnings = warningsOf(report);
  const lines = [
    path,
    `  ${speech_s.toFixed(1)} s of speech in ${duration_s.toFixed(1)} s, ${container} ${codec}`,
    ...reportsOf(report).flatMap(([signal, own]) => {
      if (own.status === 'not_available') return [`  ${signal}: ${own.status}: ${own.reason}`];
      if (own.status !== 'ok') return [`  ${signal}: ${own.status}`];
      return definitions[signal]
        .describe(own)
        .map(([label, value]) => `  ${label.padEnd(labelWidth)}${value}`);
    }),
    ...(warnings.length === 0 ? [] : [`  warnings: ${warnings.join(', ')}`]),
  ];
  return lines.join('\n');
}

/** Lines after those of the channels or speakers; empty for other results. */
export function describeConversation(result: AnalyzeResult): string {
  if ('error' in result || !('conversation' in result.report) || !result.report.conversation) return '';
  const { talk_share, overlap_s, interruptions } = result.report.conversation;
  const unassigned = 'unassigned' in result.report ? result.report.unassigned : null;
  const seconds = unassigned?.reduce((sum, { start_s, end_s }) => sum + end_s - start_s, 0);
  const lines = [
    ['talk share', talk_share.map((share) => `${Math.round(100 * share)} %`).join(', ')],
    ...(seconds === undefined
      ? [
          ['overlap', `${overlap_s.toFixed(1)} s`],
          ['interruptions', interruptions.join(', ')],
        ]
      : [['of neither', `${seconds.toFixed(1)} s`]]),
  ];
  return `\n  conversation\n${lines.map(([label = '', value]) => `  ${label.padEnd(labelWidth)}${value}`).join('\n')}`;
}

// The files of `undertone analyze --out`.

/**
 * The file of each recording's annotations, below the folder as the recording is below its own; null: standard output. No
 * file is overwritten.
 * @throws UsageError
 */
export function placeFiles(
  inputs: readonly Input[],
  style: OutputName,
  { extension }: Pick<OutputFormat, 'extension'>,
  folder: string | undefined,
): readonly string[] | null {
  if (folder === '') throw expected('a folder', '--out', 'an empty text');
  if (extension === undefined) {
    if (folder !== undefined) throw expected('textgrid or audacity', '--output', `${style} beside --out`);
    return null;
  }
  if (folder === undefined) {
    if (inputs.length > 1) throw expected('a folder', '--out', `nothing for ${inputs.length} files`);
    return null;
  }
  const files = inputs.map(({ name }) =>
    resolve(folder, dirname(name), basename(name, extname(name)) + extension),
  );
  const seen = new Set<string>();
  for (const [index, file] of files.entries()) {
    if (inputs[index]?.optional) continue;
    // Some file systems ignore case.
    if (seen.has(file.toLowerCase()))
      throw expected('recordings of different names', '--out', `two for ${file}`);
    seen.add(file.toLowerCase());
    if (existsSync(file))
      throw expected('a folder without the files to write', '--out', `${file}, which exists`);
  }
  try {
    ensureDir(resolve(folder), 0o777);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code;
    throw expected('a folder in which files can be created', '--out', `${folder} (${code})`);
  }
  return files;
}

/** @returns why the file was not written; null when it was */
export async function writeNew(file: string, text: string): Promise<string | null> {
  try {
    await writeParts(file, [Buffer.from(text)], 'wx');
    return null;
  } catch (error) {
    return `not written: ${(error as Error).message}`;
  }
}

// The file of `undertone analyze --embeddings`: one row per result, in the order of the output.

/** @throws UsageError */
export function openEmbeddingsFile(path: string, by: RowUnit | null, model: string) {
  if (extname(path) !== '.npy') throw expected('a file named .npy', '--embeddings', path);
  if (by === 'segment') throw expected('--by file or --by utterance', '--embeddings', '--by segment');
  const rows: (Float32Array | null)[] = [];
  return {
    /** Adds the rows that the output has for a result: NaN for one without scores. */
    add: (result: AnalyzeResult) => void rows.push(...embeddingsOf(result as FileResult, by)),
    /** Returns a line for the summary. */
    async write(): Promise<string> {
      const width = rows.find((row) => row !== null)?.length ?? 0;
      const data = new Float32Array(rows.length * width).fill(Number.NaN);
      for (const [index, row] of rows.entries()) if (row !== null) data.set(row, index * width);
      await writeParts(path, encodeNpy(data, [rows.length, width]));
      return `${path}: ${rows.length} x ${width} embeddings of ${model}`;
    },
  };
}

function embeddingsOf(result: FileResult, by: RowUnit | null): readonly (Float32Array | null)[] {
  if ('error' in result) return [null];
  return by === 'utterance'
    ? (result.embeddings?.timeline ?? []).map(({ embedding }) => embedding)
    : [result.embeddings?.recording ?? null];
}

// A row of the table for terminals.

/** The path ends the line. */
const tableColumns = columnsOf('short').flatMap(({ table, value }) =>
  table === undefined ? [] : [{ heading: table[0], width: table[1], value }],
);

export const tableHeader = `${tableColumns.map(({ heading, width }) => heading.padEnd(width)).join('  ')}  PATH`;

function toTable(path: string, result: FileResult, part: Part | null = null): string {
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
