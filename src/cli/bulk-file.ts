/** The file that `undertone bulk` writes: its lines tell what has been answered, so that it can go on after an end of any kind. */
import { type FileHandle, open, readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FileResult } from './analyze-thread.ts';
import { expected } from './context.ts';
import { csvHeader, toCsv } from './csv.ts';

export type BulkFile = {
  /** Paths that have been answered. */
  readonly answered: ReadonlySet<string>;
  add(path: string, outcome: FileResult): Promise<void>;
  close(): Promise<void>;
};

type ResultFormat = {
  readonly header: string;
  show(path: string, outcome: FileResult): string;
  /** The path of a record. */
  pathOf(record: string): string;
  /** Whole records, without their line breaks. */
  split(text: string): string[];
};

const jsonl: ResultFormat = {
  header: '',
  show: (path, outcome) =>
    JSON.stringify('error' in outcome ? { path, error: outcome.error } : { path, ...outcome.report }),
  pathOf: (record) => String((JSON.parse(record) as { path: unknown }).path),
  split: (text) => text.split('\n').slice(0, -1),
};

const csv: ResultFormat = {
  header: `${csvHeader}\n`,
  show: toCsv,
  pathOf: (record) => {
    const quoted = /^"((?:[^"]|"")*)"/.exec(record)?.[1];
    return quoted?.replaceAll('""', '"') ?? (record.split(',', 1)[0] as string);
  },
  split: splitRecords,
};

const resultFormats: Readonly<Record<string, ResultFormat>> = { '.jsonl': jsonl, '.csv': csv };

/** A line break inside of quotes belongs to its field; a quote inside of them is doubled. */
function splitRecords(text: string): string[] {
  const records: string[] = [];
  let start = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '"') quoted = !quoted;
    if (text[at] !== '\n' || quoted) continue;
    records.push(text.slice(start, at));
    start = at + 1;
  }
  return records;
}

/** A record that was cut off in its middle is dropped. @throws UsageError */
export async function openBulkFile(path: string): Promise<BulkFile> {
  const style = resultFormats[extname(path)];
  if (style === undefined) throw expected('a file that ends in .jsonl or .csv', '--output', path);
  const file = await open(path, 'a+').catch((error: Error) => {
    throw expected('a file that can be written', '--output', error.message);
  });
  try {
    const answered = await resume(file, path, style);
    return {
      answered,
      async add(from, outcome) {
        await file.appendFile(`${style.show(from, outcome)}\n`);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function resume(file: FileHandle, path: string, style: ResultFormat): Promise<Set<string>> {
  const whole = await readFile(path, 'utf8');
  const records = style.split(whole);
  const kept = records.reduce((sum, record) => sum + Buffer.byteLength(record) + 1, 0);
  await file.truncate(kept);
  if (kept === 0) await file.appendFile(style.header);
  if (style.header !== '' && kept > 0 && `${records.shift()}\n` !== style.header) {
    throw expected(`a file that ${style.header.slice(0, 20)}... begins`, '--output', 'another');
  }
  try {
    return new Set(records.map(style.pathOf));
  } catch {
    throw expected('a file that `undertone bulk` wrote', '--output', 'another');
  }
}
