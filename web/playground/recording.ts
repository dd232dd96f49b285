/** A file, or a microphone recording in the format of the browser's encoder. */
export type Recording = { readonly name: string; readonly blob: Blob };
