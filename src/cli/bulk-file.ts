/** The output file of `undertone bulk`: its records list the finished recordings, so that an interrupted run can resume. */
import { type FileHandle, open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { FileResult } from './analyze-thread.ts';
import { expected } from './context.ts';
import { csvHeader, toCsv, toJsonLine } from './csv.ts';
import { readOwnFile } from './inputs.ts';

type BulkFile = {
  /** Paths of the finished recordings. */
  readonly answered: ReadonlySet<string>;
  add(path: string, result: FileResult): Promise<void>;
  close(): Promise<void>;
};

type ResultFormat = {
  readonly header: string;
  format(path: string, result: FileResult): string;
  /** Matches the complete records at the start of a text, each with its line feed. */
  readonly records: RegExp;
  pathOf(record: string): string;
};

const jsonl: ResultFormat = {
  header: '',
  format: toJsonLine,
  records: /[^\n]*\n/gy,
  pathOf: (record) => String((JSON.parse(record) as { path: unknown }).path),
};

const csv: ResultFormat = {
  header: `${csvHeader()}\n`,
  format: toCsv,
  // A quoted field may contain line feeds, and a quote as two quotes.
  records: /(?:[^"\n]|"[^"]*")*\n/gy,
  pathOf: (record) => {
    const quoted = /^"((?:[^"]|"")*)"/.exec(record)?.[1];
    return quoted?.replaceAll('""', '"') ?? (record.split(',', 1)[0] as string);
  },
};

const resultFormats: Readonly<Record<string, ResultFormat>> = { '.jsonl': jsonl, '.csv': csv };

/** Drops an incomplete last record. @throws UsageError */
export async function openBulkFile(path: string): Promise<BulkFile> {
  const format = resultFormats[extname(path)];
  if (format === undefined) throw expected('a file that ends in .jsonl or .csv', '--output', path);
  const text = await readOwnFile('--output', path);
  const file = await open(path, 'a').catch((error: Error) => {
    throw expected('a file that can be written', '--output', error.message);
  });
  try {
    const answered = await resume(file, text, format);
    return {
      answered,
      async add(from, result) {
        await file.appendFile(`${format.format(from, result)}\n`);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function resume(file: FileHandle, text: string, format: ResultFormat): Promise<Set<string>> {
  const records = text.match(format.records) ?? [];
  const kept = records.reduce((sum, record) => sum + Buffer.byteLength(record), 0);
  await file.truncate(kept);
  if (kept === 0) await file.appendFile(format.header);
  if (format.header !== '' && kept > 0 && records.shift() !== format.header) {
    throw expected(`a file that ${format.header.slice(0, 20)}... begins`, '--output', 'another');
  }
  try {
    return new Set(records.map(format.pathOf));
  } catch {
    throw expected('a file that `undertone bulk` wrote', '--output', 'another');
  }
}
