/** What gets analysed: a file as it is, or what the browser's own encoder made of the microphone. */
export type Recording = { readonly name: string; readonly blob: Blob };
