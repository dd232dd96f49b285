/** The CSV file of `undertone evaluate` and `undertone adapt`: recordings and what people say about them. */

import { dirname, resolve } from 'node:path';
import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { escapeControls, hasControls } from '../../node/controls.ts';
import { sha256 } from '../../service/sha256.ts';
import { suggest } from '../../service/suggest.ts';
import { type CliContext, UsageError } from '../context.ts';
import { readNamedFile } from '../inputs.ts';
import { reportNames } from '../models/labels.ts';

export type LabelledRecording = {
  /** Absolute. */
  readonly path: string;
  /** In lower case. Null where the column is absent or the cell is empty, as for all columns. */
  readonly label: string | null;
  /** 0 to 1. */
  readonly valence: number | null;
  readonly arousal: number | null;
  readonly clarity: number | null;
  readonly speaker: string | null;
  readonly group: string | null;
};

/** What is wrong with the file, for its owner. */
export class LabelsError extends Error {}

const columns = ['path', 'label', 'valence', 'arousal', 'clarity', 'speaker', 'group'] as const;
/** Of manifests, cards and reports. */
const texts = ['label', 'speaker', 'group'] as const;
const truths = ['label', 'valence', 'arousal', 'clarity'] as const;

const label = z
  .string()
  .transform((value) => value.toLowerCase())
  .transform((value) => (value === '' ? null : (reportNames.get(value) ?? value)));
const text = z.string().transform((value) => (value === '' ? null : value));
const scoreLabel = z
  .string()
  .regex(/^(|0|1|0?\.\d+|[01]\.\d*)$/)
  .transform((value) => (value === '' ? null : Number(value)))
  .refine((value) => value === null || value <= 1);
const shape = {
  label,
  speaker: text,
  group: text,
  valence: scoreLabel,
  arousal: scoreLabel,
  clarity: scoreLabel,
};

/** `ignored` names the other columns, for people. */
type Labels = { readonly recordings: LabelledRecording[]; readonly ignored: readonly string[] };

/** @param folder of relative paths @throws LabelsError */
export function parseLabels(csv: string, folder: string): Labels {
  const [first, ...rows] = readRows(csv);
  const head = first?.record ?? [];
  if (!head.includes('path') || !truths.some((name) => head.includes(name)))
    throw new LabelsError(
      `Expected a first line with \`path\`, one or more of ${truths.join(', ')}, and speaker and group if known, got ${escapeControls(head.join(','))}`,
    );
  if (rows.length === 0) throw new LabelsError('Expected one or more recordings, got none');
  const lines = new Map<string, number>();
  const recordings = rows.map(({ record, info: { lines: line } }) => {
    const recording = toRecording(head, record, line, folder);
    const before = lines.get(recording.path);
    if (before !== undefined)
      throw new LabelsError(`Expected each path once, got that of line ${before} in line ${line} again`);
    lines.set(recording.path, line);
    return recording;
  });
  return { recordings, ignored: ignoredOf(head) };
}

function ignoredOf(head: readonly string[]): string[] {
  const absent = columns.filter((name) => !head.includes(name));
  const others = head.filter((name) => !columns.some((known) => known === name));
  return others.map((name) => {
    const meant = suggest(name, absent);
    return escapeControls(name) + (meant === null ? '' : ` (did you mean ${meant}?)`);
  });
}

type Row = { readonly record: string[]; readonly info: { readonly lines: number } };

function readRows(csv: string): Row[] {
  try {
    return parse(csv, { bom: true, trim: true, skip_empty_lines: true, info: true }) as unknown as Row[];
  } catch (error) {
    if (error instanceof CsvError)
      throw new LabelsError(`Expected CSV, got a file that is none: ${error.message}`);
    throw error;
  }
}

function toRecording(
  head: readonly string[],
  cells: readonly string[],
  line: number,
  folder: string,
): LabelledRecording {
  const of = (name: string) => cells[head.indexOf(name)] ?? '';
  if (of('path') === '') throw new LabelsError(`Expected a path in line ${line}, got none`);
  const unsafe = texts.find((name) => hasControls(of(name)));
  if (unsafe !== undefined)
    throw new LabelsError(
      `Expected text without control characters for \`${unsafe}\` in line ${line}, got ${escapeControls(of(unsafe))}`,
    );
  const parsed = z.object(shape).safeParse(Object.fromEntries(columns.map((name) => [name, of(name)])));
  if (!parsed.success) {
    const name = String(parsed.error.issues[0]?.path[0]);
    throw new LabelsError(`Expected a number from 0 to 1 for \`${name}\` in line ${line}, got ${of(name)}`);
  }
  return { ...parsed.data, path: resolve(folder, of('path')) };
}

/** Names the columns that are ignored on standard error. Returns the recordings and the hash of the file. @throws UsageError */
export async function readLabels(path: string, { stderr }: CliContext) {
  const bytes = await readNamedFile('labels', path);
  try {
    const { recordings, ignored } = parseLabels(bytes.toString(), dirname(resolve(path)));
    if (ignored.length > 0) stderr.write(`${path}: ignored columns: ${ignored.join(', ')}\n`);
    return { recordings, sha256: sha256(bytes) };
  } catch (error) {
    throw error instanceof LabelsError ? new UsageError(`${path}: ${error.message}`) : error;
  }
}
