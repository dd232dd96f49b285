/** Results of jobs as rows of pieces: SQLite reads a value whole to return a part of it, and a result of hours has megabytes. */
const pieceBytes = 131_072;
/** Of one response: a piece that is read, one that is ready, one that is sent. */
export const bytesPerResponse = 3 * pieceBytes;

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
