/** Results of jobs as rows of pieces: SQLite reads a value whole to return a part of it, and a result of hours has megabytes. */

/** The same in every release: stored results have pieces of this size. */
export const pieceBytes = 131_072;

/** @param json UTF-8 */
export function piecesOf(job: string, json: Uint8Array) {
  return Array.from({ length: countPieces(json.length) }, (_, number) => ({
    job,
    number,
    json: json.subarray(number * pieceBytes, (number + 1) * pieceBytes),
  }));
}

export function countPieces(bytes: number): number {
  return Math.ceil(bytes / pieceBytes);
}
