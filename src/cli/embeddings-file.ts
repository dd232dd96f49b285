/** The file of `undertone analyze --embeddings`: one row per result, in the order of the output. */
import { extname } from 'node:path';
import { encodeNpy } from '../audio/npy.ts';
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import { expected } from './context.ts';
import type { RowUnit } from './wide.ts';
import { writeParts } from './write-parts.ts';

export type EmbeddingsFile = {
  /** Adds the rows that the output has for a result: NaN for one without scores. */
  add(result: AnalyzeResult): void;
  /** Returns a line for the summary. */
  write(): Promise<string>;
};

/** @throws UsageError */
export function openEmbeddingsFile(path: string, by: RowUnit | null, model: string): EmbeddingsFile {
  if (extname(path) !== '.npy') throw expected('a file named .npy', '--embeddings', path);
  if (by === 'segment') throw expected('--by file or --by utterance', '--embeddings', '--by segment');
  const rows: (Float32Array | null)[] = [];
  return {
    add: (result) => void rows.push(...rowsOf(result as FileResult, by)),
    async write() {
      const width = rows.find((row) => row !== null)?.length ?? 0;
      const data = new Float32Array(rows.length * width).fill(Number.NaN);
      for (const [index, row] of rows.entries()) if (row !== null) data.set(row, index * width);
      await writeParts(path, encodeNpy(data, [rows.length, width]));
      return `${path}: ${rows.length} x ${width} embeddings of ${model}`;
    },
  };
}

function rowsOf(result: FileResult, by: RowUnit | null): readonly (Float32Array | null)[] {
  if ('error' in result) return [null];
  return by === 'utterance'
    ? (result.embeddings?.timeline ?? []).map(({ embedding }) => embedding)
    : [result.embeddings?.recording ?? null];
}
