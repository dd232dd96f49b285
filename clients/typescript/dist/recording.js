/** Whole in memory: an upload may be sent again. */
export async function readRecording(recording) {
    if (recording instanceof Blob)
        return recording;
    if (typeof recording === 'string' || recording instanceof URL)
        return new Blob([await readFile(recording)]);
    if (recording instanceof ArrayBuffer || ArrayBuffer.isView(recording))
        return new Blob([recording]);
    if (recording instanceof ReadableStream)
        return new Response(recording).blob();
    const chunks = [];
    for await (const chunk of recording)
        chunks.push(chunk);
    return new Blob(chunks);
}
async function readFile(path) {
    // Bundlers for browsers would look for it.
    const fs = await import(/* webpackIgnore: true */ /* @vite-ignore */ 'node:fs/promises');
    return fs.readFile(path);
}
