/** A recording from wherever it is: the path of a file (Node alone), bytes, or a stream. */
export type Recording =
  | string
  | URL
  | Blob
  | ArrayBuffer
  | Uint8Array
  | ReadableStream<Uint8Array>
  | AsyncIterable<Uint8Array>;

/** Whole in memory: an upload may be sent again. */
export async function readRecording(recording: Recording): Promise<Blob> {
  if (recording instanceof Blob) return recording;
  if (typeof recording === 'string' || recording instanceof URL) return new Blob([await readFile(recording)]);
  if (recording instanceof ArrayBuffer || ArrayBuffer.isView(recording))
    return new Blob([recording as BlobPart]);
  if (recording instanceof ReadableStream) return new Response(recording).blob();
  const chunks: BlobPart[] = [];
  for await (const chunk of recording) chunks.push(chunk as BlobPart);
  return new Blob(chunks);
}

async function readFile(path: string | URL): Promise<Uint8Array<ArrayBuffer>> {
  // Bundlers for browsers would look for it.
  const fs = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
  return fs.readFile(path);
}
