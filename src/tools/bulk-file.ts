/** The output file of `undertone bulk`: its records list the finished recordings, so that an interrupted run can resume. */

import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { extname } from 'node:path';
import type { AnalyzeResult } from './analyze-thread.ts';
import type { Part } from './columns.ts';
import { expected } from './context.ts';
import { csvHeader, toJsonLine } from './lines.ts';
import { csvPerPart } from './output.ts';

type BulkFile = {
  /** Paths of the finished recordings. */
  readonly answered: ReadonlySet<string>;
  add(path: string, result: AnalyzeResult): Promise<void>;
  close(): Promise<void>;
};

type ResultFormat = {
  readonly header: string;
  /** Every file of the format begins with it. */
  readonly begins: string;
  /** A quoted field may contain line feeds, and a quote as two quotes. */
  readonly quotes: boolean;
  format(path: string, result: AnalyzeResult): string;
  pathOf(record: string): unknown;
};

const jsonl: ResultFormat = {
  header: '',
  begins: '{"path":',
  quotes: false,
  format: toJsonLine,
  pathOf: (record) => (JSON.parse(record) as { path: unknown }).path,
};

function csvOf(kind: Part['kind'] | null): ResultFormat {
  const header = `${csvHeader(kind)}\n`;
  return {
    header,
    begins: header,
    quotes: true,
    format: csvPerPart(kind),
    pathOf: (record) => {
      const quoted = /^"((?:[^"]|"")*)"/.exec(record)?.[1];
      return quoted?.replaceAll('""', '"') ?? record.split(',', 1)[0];
    },
  };
}

/** Drops an incomplete last record, and of several rows per file the others of its file. @throws UsageError */
export async function openBulkFile(path: string, kind: Part['kind'] | null): Promise<BulkFile> {
  const formats: Readonly<Record<string, ResultFormat>> = { '.jsonl': jsonl, '.csv': csvOf(kind) };
  const format = formats[extname(path)];
  if (format === undefined) throw expected('a file that ends in .jsonl or .csv', '--output', path);
  const file = await open(path, 'a+').catch((error: Error) => {
    throw expected('a file that can be written', '--output', error.message);
  });
  try {
    const found = await readAnswered(path, file, format, kind);
    await file.truncate(found.bytes);
    if (found.bytes === 0) await file.appendFile(format.header);
    let written = Promise.resolve();
    return {
      answered: found.paths,
      // One after another: a long record is written in pieces.
      add(from, result) {
        written = written.then(() => file.appendFile(`${format.format(from, result)}\n`));
        return written;
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** @returns the finished recordings, and the bytes of their records @throws UsageError for a file of something else */
async function readAnswered(path: string, file: FileHandle, format: ResultFormat, kind: Part['kind'] | null) {
  const another = expected(
    'a file that `undertone bulk` of this release wrote with these options',
    '--output',
    'another: name a new file',
  );
  const found = await file.stat();
  if (!found.isFile()) throw expected('a readable file', '--output', `${path}: a device, pipe or socket`);
  const { bytesRead, buffer } = await file.read(Buffer.alloc(format.begins.length), 0, null, 0);
  if (buffer.toString('utf8', 0, bytesRead) !== format.begins.slice(0, bytesRead)) throw another;
  const paths = new Set<string>();
  let bytes = 0;
  let last = { path: '', start: 0 };
  for await (const record of recordsIn(path, format.quotes)) {
    const start = bytes;
    bytes += Buffer.byteLength(record);
    if (start === 0 && format.header !== '') continue;
    const from = parsed(() => format.pathOf(record));
    if (typeof from !== 'string') throw another;
    if (from !== last.path) last = { path: from, start };
    paths.add(from);
  }
  const isCut = bytes < found.size && paths.size > 0;
  if (!isCut || kind === null || format.header === '') return { paths, bytes };
  paths.delete(last.path);
  return { paths, bytes: last.start };
}

function parsed(read: () => unknown): unknown {
  try {
    return read();
  } catch {
    return null;
  }
}

/** The complete records of a file, each with its line feed. */
async function* recordsIn(path: string, quotes: boolean): AsyncGenerator<string> {
  let parts: Buffer[] = [];
  let isQuoted = false;
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    let from = 0;
    for (let at = 0; at < chunk.length; at++) {
      if (quotes && chunk[at] === 0x22) isQuoted = !isQuoted;
      if (chunk[at] !== 0x0a || isQuoted) continue;
      yield Buffer.concat([...parts, chunk.subarray(from, at + 1)]).toString();
      parts = [];
      from = at + 1;
    }
    parts.push(chunk.subarray(from));
  }
}
