/** A recording from wherever it is: the path of a file (Node alone), bytes, or a stream. */
export type Recording =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

const expected = 'Expected the path of a file, bytes, a Blob or a stream of bytes for';

/**
 * Whole in memory: an upload may be sent again.
 * @param part of the form, for errors
 * @throws TypeError for another value, and for a stream at its end
 */
export async function readRecording(recording: Recording, part: string): Promise<Blob> {
  if (recording instanceof Blob) return recording;
  if (typeof recording === 'string' || recording instanceof URL) return new Blob([await readFile(recording)]);
  if (recording instanceof ArrayBuffer || ArrayBuffer.isView(recording))
    return new Blob([recording as BlobPart]);
  if (!isStream(recording)) throw new TypeError(`${expected} \`${part}\`, got ${String(recording)}`);
  const blob = await readStream(recording);
  if (blob.size === 0) throw new TypeError(`${expected} \`${part}\`, got a stream at its end: read it again`);
  return blob;
}

function isStream(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return value instanceof ReadableStream || Symbol.asyncIterator in value || Symbol.iterator in value;
}

async function readStream(stream: ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>): Promise<Blob> {
  if (stream instanceof ReadableStream) return new Response(stream).blob();
  const chunks: BlobPart[] = [];
  for await (const chunk of stream) chunks.push(chunk as BlobPart);
  return new Blob(chunks);
}

async function readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  // Bundlers for browsers would look for it.
  const fs = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
  return fs.readFile(path);
}
