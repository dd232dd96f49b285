/**
 * An incremental parser of multipart/form-data. Lines must end in CRLF, as the RFCs require, so that proxies see the same parts.
 * Contents are views of the blocks, without a copy; between blocks at most the headers of one part are buffered. Parts and
 * errors do not depend on the division into blocks.
 */
import { invalidPart, type ServiceError } from './errors.ts';

export type PartHandler = {
  /** Receives the next bytes of the content, at least one. */
  data(bytes: Uint8Array): void;
  end(): void;
};

const maxParts = 64;
const maxHeaderBytes = 16_384;
/** Spaces and tabs after a boundary (RFC 2046). */
const maxPadding = 256;
const lineEnd = '\r\n';
const cr = 0x0d;
const lf = 0x0a;
const dash = 0x2d;
const space = 0x20;
const tab = 0x09;

/** After a boundary: the end of its line or of the form, other content, or `unknown` until more bytes arrive. */
type AfterBoundary = { readonly end: number; readonly last: boolean } | 'other' | 'unknown';

type Delimiter = {
  /** The content extends at least to here. */
  readonly contentEnd: number;
  /** Null until more bytes arrive. */
  readonly next: { readonly end: number; readonly last: boolean } | null;
};

/**
 * The numbered comments follow the grammar of multipart-body (RFC 2046, section 5.1.1).
 * @param onPart returns null to ignore the content of a part
 */
export function createMultipartReader(
  boundary: string,
  onPart: (headers: PartHeaders) => PartHandler | null,
) {
  const delimiter = Buffer.from(`${lineEnd}--${boundary}`, 'latin1');
  let state: 'preamble' | 'headers' | 'content' | 'epilogue' = 'preamble';
  let parts = 0;
  let part: PartHandler | null = null;
  /** Bytes of earlier blocks that are not parsed yet. */
  let rest: Buffer = Buffer.alloc(0);
  /** Whether a boundary may start at the next byte without a line end before it. */
  let atLineStart = true;

  /** 2. The headers of a body-part. @returns the next position; the state is unchanged when more bytes are needed */
  function readHeaders(bytes: Buffer, from: number): number {
    const lines: string[] = [];
    for (let start = from; ; ) {
      const end = bytes.indexOf(lineEnd, start, 'latin1');
      const length = (end === -1 ? bytes.length - 1 : end) - from;
      if (length > maxHeaderBytes)
        throw malformed(`at most ${maxHeaderBytes} bytes of headers a part`, 'more');
      if (end === -1) return from;
      const line = bytes.toString('utf8', start, end);
      if (/[\r\n]/.test(line)) throw malformed('CRLF line ends in the headers of a part', 'a bare CR or LF');
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
    // 3. body-part: octets up to a delimiter. Those before the first dash-boundary are the preamble.
    if (contentEnd > from) {
      atLineStart = false;
      part?.data(bytes.subarray(from, contentEnd));
    }
    if (next === null) return contentEnd;
    part?.end();
    part = null;
    // 4. delimiter: another body-part follows. close-delimiter: the rest is the epilogue.
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

  /** 1. dash-boundary: a delimiter without its CRLF, at the start of the body or of a content. */
  function readBoundary(bytes: Buffer, from: number): AfterBoundary {
    const length = delimiter.length - lineEnd.length;
    const end = Math.min(bytes.length, from + length);
    const start = lineEnd.length;
    if (bytes.compare(delimiter, start, start + end - from, from, end) !== 0) return 'other';
    return end < from + length ? 'unknown' : readAfter(bytes, end);
  }

  return {
    /** @throws ServiceError with the reason `multipart`, or an error of a handler, after which the reader is unusable */
    write(block: Uint8Array): void {
      const added = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
      const bytes = rest.length === 0 ? added : Buffer.concat([rest, added]);
      let at = 0;
      for (let previous = -1; previous !== at && state !== 'epilogue'; ) {
        previous = at;
        at = state === 'headers' ? readHeaders(bytes, at) : readContent(bytes, at);
      }
      rest = state === 'epilogue' ? Buffer.alloc(0) : bytes.subarray(at);
    },
    /** @throws ServiceError without a closing boundary */
    end(): void {
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

/** "--" after the boundary makes a close-delimiter; otherwise transport-padding and CRLF end the line. */
function readAfter(bytes: Buffer, from: number): AfterBoundary {
  if (bytes[from] === dash && bytes[from + 1] === dash) return { end: from + 2, last: true };
  if (bytes[from] === dash && from + 1 === bytes.length) return 'unknown';
  let at = from;
  while (at < from + maxPadding && (bytes[at] === space || bytes[at] === tab)) at++;
  const end = at + lineEnd.length;
  if (end <= bytes.length) return bytes[at] === cr && bytes[at + 1] === lf ? { end, last: false } : 'other';
  return at === bytes.length || bytes[at] === cr ? 'unknown' : 'other';
}

// Headers of a form and its parts (RFC 7578, RFC 2046 section 5.1).

export type PartHeaders = {
  /** Empty when missing. */
  readonly name: string;
  /** Media type in lower case without parameters; null when missing. */
  readonly contentType: string | null;
  /** Empty when missing. */
  readonly fileName: string;
};

const maxBoundary = 70;

/** In lower case, without parameters; empty without a value. */
export function mediaTypeOf(contentType = ''): string {
  return (contentType.split(';', 1)[0] as string).trim().toLowerCase();
}

/**
 * Returns the boundary of a Content-Type value, or null unless it is multipart/form-data.
 * @throws ServiceError for an invalid or missing boundary
 */
export function boundaryOf(contentType: string | undefined): string | null {
  const value = contentType ?? '';
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(value)) return null;
  const boundary = parameters(value).get('boundary') ?? '';
  if (boundary.length > maxBoundary || !/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) {
    const expected = `a boundary of 1 to ${maxBoundary} printable characters that does not end in a space`;
    throw malformed(expected, boundary === '' ? 'none' : 'another');
  }
  return boundary;
}

/** @throws ServiceError with the reason `multipart` */
function parseHeaders(lines: readonly string[]): PartHeaders {
  let name = '';
  let fileName = '';
  let contentType: string | null = null;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed('`Name: value` in the headers of a part', 'another line');
    const field = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (field === 'content-disposition' && /^form-data\s*(;|$)/i.test(value)) {
      const found = parameters(value);
      name = found.get('name') ?? '';
      fileName = found.get('filename') ?? '';
    } else if (field === 'content-type') {
      contentType = mediaTypeOf(value) || null;
    }
  }
  return { name, contentType, fileName };
}

/** Parameters of a header value, the first of each name. Extended ones (`filename*`) keep their star. */
function parameters(value: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g)) {
    const name = (match[1] as string).toLowerCase();
    const quoted = match[2]?.replace(/\\(["\\])/g, '$1');
    if (!found.has(name)) found.set(name, quoted ?? match[3] ?? '');
  }
  return found;
}

function malformed(expected: string, got: string): ServiceError {
  return invalidPart('audio', 'multipart', `Expected ${expected} for \`body\`, got ${got}`);
}
