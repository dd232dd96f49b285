/** The file of `undertone analyze --embeddings`: one row per result, in the order of the output. */

import { extname } from 'node:path';
import { writeParts } from '../node/files.ts';
import { encodeNpy } from '../node/npy.ts';
import type { AnalyzeResult, FileResult } from './analyze-thread.ts';
import type { RowUnit } from './columns.ts';
import { expected } from './context.ts';

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
