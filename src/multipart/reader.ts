/**
 * An incremental reader of multipart/form-data. Lines end in CRLF, as the RFCs require: a proxy that reads the same bytes sees the
 * same parts. Contents are passed on as views of the blocks, without a copy; at most one block of headers is kept between two blocks.
 * The parts, and the first error, depend on the bytes and not on how they are divided into blocks.
 */
import { malformed, type PartHeaders, parseHeaders } from './headers.ts';

export type PartHandler = {
  /** The next bytes of the content, at least one. */
  data(bytes: Uint8Array): void;
  end(): void;
};

export type MultipartReader = {
  /** @throws ServiceError with the reason `multipart`, or what a handler throws; the reader cannot be used after that */
  write(block: Uint8Array): void;
  /** @throws Failure when the closing boundary is missing */
  end(): void;
};

const maxParts = 64;
const maxHeaderBytes = 16_384;
const maxPadding = 256;
const lineEnd = '\r\n';
const cr = 0x0d;
const lf = 0x0a;
const dash = 0x2d;
const space = 0x20;
const tab = 0x09;

/** What follows a boundary: the end of its line, the end of the form, something else, or bytes that have not arrived. */
type AfterBoundary = { readonly end: number; readonly last: boolean } | 'other' | 'unknown';

type Delimiter = {
  /** Content ends here, as far as it can be told. */
  readonly contentEnd: number;
  /** Null where the rest of the bytes cannot be told yet. */
  readonly next: { readonly end: number; readonly last: boolean } | null;
};

/** @param onPart returns null to ignore the content of a part */
export function createMultipartReader(
  boundary: string,
  onPart: (headers: PartHeaders) => PartHandler | null,
): MultipartReader {
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`, 'latin1');
  let state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  let parts = 0;
  let part: PartHandler | null = null;
  /** Bytes of earlier blocks that cannot be told yet. */
  let rest: Buffer = Buffer.alloc(0);
  /** Whether the next byte follows a line end that is not content: a boundary may stand here. */
  let atLineStart = true;

  /** @returns where to go on; the state is unchanged when more bytes are needed */
  function readHeaders(bytes: Buffer, from: number): number {
    const lines: string[] = [];
    for (let start = from; ; ) {
      const end = bytes.indexOf(lineEnd, start, 'latin1');
      const length = (end === -1 ? bytes.length - 1 : end) - from;
      if (length > maxHeaderBytes)
        throw malformed(`at most ${maxHeaderBytes} bytes of headers a part`, 'more');
      if (end === -1) return from;
      const line = bytes.toString('utf8', start, end);
      if (/[\r\n]/.test(line)) throw malformed('headers of a part that end in CRLF', 'others');
      start = end + lineEnd.length;
      if (line === '') {
        part = onPart(parseHeaders(lines));
        state = 'content';
        atLineStart = true;
        return start;
      }
      lines.push(line);
    }
  }

  function readContent(bytes: Buffer, from: number): number {
    const { contentEnd, next } = findDelimiter(bytes, from);
    if (contentEnd > from) {
      atLineStart = false;
      part?.data(bytes.subarray(from, contentEnd));
    }
    if (next === null) return contentEnd;
    part?.end();
    part = null;
    state = next.last ? 'epilogue' : 'headers';
    if (!next.last && ++parts > maxParts) throw malformed(`at most ${maxParts} parts`, 'more');
    return next.end;
  }

  function findDelimiter(bytes: Buffer, from: number): Delimiter {
    const atStart = atLineStart ? readBoundary(bytes, from) : 'other';
    if (atStart !== 'other') return toDelimiter(from, atStart);
    let start = bytes.indexOf(delimiter, from);
    while (start !== -1) {
      const after = readAfter(bytes, start + delimiter.length);
      if (after !== 'other') return toDelimiter(start, after);
      start = bytes.indexOf(delimiter, start + 1);
    }
    return { contentEnd: Math.max(from, bytes.length - delimiter.length + 1), next: null };
  }

  /** A boundary at the start of the body or of a content, whose line end is not part of the content. */
  function readBoundary(bytes: Buffer, from: number): AfterBoundary {
    const length = delimiter.length - lineEnd.length;
    const end = Math.min(bytes.length, from + length);
    const start = lineEnd.length;
    if (bytes.compare(delimiter, start, start + end - from, from, end) !== 0) return 'other';
    return end < from + length ? 'unknown' : readAfter(bytes, end);
  }

  return {
    write(block) {
      const added = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      const bytes = rest.length === 0 ? added : Buffer.concat([rest, added]);
      let at = 0;
      for (let told = -1; told !== at && state !== 'epilogue'; ) {
        told = at;
        at = state === 'headers' ? readHeaders(bytes, at) : readContent(bytes, at);
      }
      rest = state === 'epilogue' ? Buffer.alloc(0) : bytes.subarray(at);
    },
    end() {
      if (state === 'epilogue') return;
      if (state === 'headers')
        throw malformed('a blank line after the headers of a part', 'the end of the body');
      if (state === 'content') throw malformed('a closing boundary', 'the end of the body');
      throw malformed('the boundary of Content-Type on a line of its own that ends in CRLF', 'none');
    },
  };
}

function toDelimiter(contentEnd: number, after: Exclude<AfterBoundary, 'other'>): Delimiter {
  return { contentEnd, next: after === 'unknown' ? null : after };
}

function readAfter(bytes: Buffer, from: number): AfterBoundary {
  if (bytes[from] === dash && bytes[from + 1] === dash) return { end: from + 2, last: true };
  if (bytes[from] === dash && from + 1 === bytes.length) return 'unknown';
  let at = from;
  while (at < from + maxPadding && (bytes[at] === space || bytes[at] === tab)) at++;
  const end = at + lineEnd.length;
  if (end <= bytes.length) return bytes[at] === cr && bytes[at + 1] === lf ? { end, last: false } : 'other';
  return at === bytes.length || bytes[at] === cr ? 'unknown' : 'other';
}
