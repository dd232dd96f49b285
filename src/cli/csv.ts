/** An outcome as one row: of CSV, or of a table for a terminal. */
import type { Report } from '../index.ts';
import type { FileResult } from './analyze-thread.ts';

/** Seconds, and scores from 0 to 1, as in the reports; null where there is none. */
type Row = Readonly<Record<(typeof columns)[number], string | number | null>>;

const columns = [
  'path',
  'status',
  'duration_s',
  'speech_s',
  'valence',
  'arousal',
  'dominant_emotion',
  'tone',
  'emotion_confidence',
  'cognitive_load',
  'clarity',
  'processing',
  'cognitive_confidence',
  'warnings',
  'error',
] as const;

export const csvHeader = columns.join(',');

/** RFC 4180, without its CR. */
export function toCsv(path: string, outcome: FileResult): string {
  const row = toRow(path, outcome);
  return columns.map((name) => quote(String(row[name] ?? ''))).join(',');
}

/** What of a row a terminal has room for, with its heading and width; the path ends the line. */
const shown = [
  ['status', 'STATUS', 10],
  ['speech_s', 'SPEECH', 7],
  ['valence', 'VALENCE', 7],
  ['arousal', 'AROUSAL', 7],
  ['dominant_emotion', 'EMOTION', 9],
  ['cognitive_load', 'LOAD', 5],
  ['clarity', 'CLARITY', 7],
  ['processing', 'PROCESSING', 10],
] as const;

export const tableHeader = `${shown.map(([, heading, width]) => heading.padEnd(width)).join('  ')}  PATH`;

export function toTable(path: string, outcome: FileResult): string {
  const row = toRow(path, outcome);
  const cells = shown.map(([name, , width]) => brief(row[name]).padEnd(width));
  return `${cells.join('  ')}  ${path}${row.error === null ? '' : `: ${row.error}`}`;
}

function toRow(path: string, outcome: FileResult): Row {
  const empty = Object.fromEntries(columns.map((name) => [name, null])) as Row;
  if ('error' in outcome) return { ...empty, path, status: 'failed', error: outcome.error.msg };
  const { audio, emotion, cognitive } = outcome.report;
  return {
    ...empty,
    path,
    status: (emotion ?? cognitive)?.status ?? null,
    duration_s: audio.duration_s,
    speech_s: audio.speech_s,
    ...emotionCells(emotion),
    ...cognitiveCells(cognitive),
    warnings: [...new Set([...(emotion?.warnings ?? []), ...(cognitive?.warnings ?? [])])].join(' '),
  };
}

function emotionCells(report: Report['emotion']): Partial<Row> {
  if (report === undefined || !('valence' in report.signals)) return {};
  const { valence, arousal, dominant_emotion, tone, confidence } = report.signals;
  return { valence, arousal, dominant_emotion, tone, emotion_confidence: confidence };
}

function cognitiveCells(report: Report['cognitive']): Partial<Row> {
  if (report === undefined || !('clarity' in report.signals)) return {};
  const { cognitive_load, clarity, processing, confidence } = report.signals;
  return { cognitive_load, clarity, processing, cognitive_confidence: confidence };
}

function quote(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function brief(value: string | number | null): string {
  if (value === 'insufficient_speech') return 'too short';
  return typeof value === 'number' ? value.toFixed(2) : (value ?? '-');
}
