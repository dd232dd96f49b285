/** A recording from wherever it is: the path of a file (Node alone), bytes, or a stream. */
export type Recording = string | URL | Blob | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;
/** Whole in memory: an upload may be sent again. */
export declare function readRecording(recording: Recording): Promise<Blob>;
