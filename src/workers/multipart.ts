/**
 * A reader of multipart/form-data (RFC 7578, RFC 2046 section 5.1) over bytes that are all in memory.
 * Lines end in CRLF, so that nobody before us reads another form. Parts are views of the body: nothing is copied.
 * Whatever the bytes, it returns or throws a Failure.
 */
import { invalidPart } from '../errors.ts';

export type Part = {
  readonly name: string;
  /** As declared, in lower case and without parameters; null when absent. */
  readonly contentType: string | null;
  readonly bytes: Uint8Array;
};

const maxBoundary = 70;
const maxParts = 64;
const maxHeaderBytes = 16_384;
const maxPadding = 256;
const lineEnd = '\r\n';
const cr = 0x0d;
const lf = 0x0a;
const dash = 0x2d;
const space = 0x20;
const tab = 0x09;

/** Where a boundary line starts, and where what follows it starts. */
type Delimiter = { readonly start: number; readonly end: number; readonly last: boolean };

/**
 * The boundary of a Content-Type value, or null when that is not multipart/form-data at all.
 * @throws Failure when it is multipart/form-data without a usable boundary
 */
export function boundaryOf(contentType: string | undefined): string | null {
  const value = contentType ?? '';
  if (!/^\s*multipart\/form-data\s*(;|$)/i.test(value)) return null;
  const boundary = parameters(value).get('boundary') ?? '';
  if (boundary.length > maxBoundary || !/^[\x20-\x7e]*[\x21-\x7e]$/.test(boundary)) {
    throw broken(`a boundary of 1 to ${maxBoundary} characters`, `${boundary.length}`);
  }
  return boundary;
}

/** @throws Failure of type value_error.multipart */
export function scanMultipart(body: Uint8Array, boundary: string): Part[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const marker = Buffer.from(`--${boundary}`, 'latin1');
  const parts: Part[] = [];
  let delimiter = findDelimiter(bytes, marker, 0);
  if (delimiter === null) {
    if (!bytes.includes(marker)) throw broken('the boundary named in Content-Type', 'a body without it');
    throw broken('a boundary on a line of its own that ends in CRLF', 'another');
  }
  while (!delimiter.last) {
    if (parts.length === maxParts) throw broken(`at most ${maxParts} parts`, 'more');
    const headers = readHeaders(bytes, delimiter.end);
    const next = findDelimiter(bytes, marker, headers.end);
    if (next === null) throw broken('a closing boundary', 'the end of the body');
    const end = Math.max(headers.end, next.start - lineEnd.length);
    parts.push({ ...headers.fields, bytes: bytes.subarray(headers.end, end) });
    delimiter = next;
  }
  return parts;
}

/** The next whole line made of the marker, perhaps `--`, and padding. */
function findDelimiter(bytes: Buffer, marker: Buffer, from: number): Delimiter | null {
  let start = bytes.indexOf(marker, from);
  while (start !== -1) {
    const found = start === 0 || endsLine(bytes, start) ? readDelimiter(bytes, marker, start) : null;
    if (found !== null) return found;
    start = bytes.indexOf(marker, start + 1);
  }
  return null;
}

function readDelimiter(bytes: Buffer, marker: Buffer, start: number): Delimiter | null {
  let end = start + marker.length;
  if (bytes[end] === dash && bytes[end + 1] === dash) return { start, end: end + 2, last: true };
  const padded = end + maxPadding;
  while (end < padded && (bytes[end] === space || bytes[end] === tab)) end++;
  end += lineEnd.length;
  return endsLine(bytes, end) ? { start, end, last: false } : null;
}

function endsLine(bytes: Buffer, end: number): boolean {
  return bytes[end - 2] === cr && bytes[end - 1] === lf;
}

type Headers = { readonly fields: Omit<Part, 'bytes'>; readonly end: number };

function readHeaders(bytes: Buffer, from: number): Headers {
  const lines: string[] = [];
  let start = from;
  for (;;) {
    const end = bytes.indexOf(lineEnd, start);
    if (end === -1) throw broken('a blank line after the headers of a part', 'the end of the body');
    if (end - from > maxHeaderBytes)
      throw broken(`at most ${maxHeaderBytes} bytes of headers a part`, 'more');
    const line = bytes.toString('utf8', start, end);
    start = end + lineEnd.length;
    if (/[\r\n]/.test(line)) throw broken('headers of a part that end in CRLF', 'others');
    if (line === '') return { fields: readFields(lines), end: start };
    lines.push(line);
  }
}

function readFields(lines: readonly string[]): Headers['fields'] {
  let name = '';
  let contentType: string | null = null;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw broken('`Name: value` in the headers of a part', 'another line');
    const field = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (field === 'content-disposition' && /^form-data\s*(;|$)/i.test(value)) {
      name = parameters(value).get('name') ?? '';
    } else if (field === 'content-type') {
      contentType = (value.split(';', 1)[0] as string).trim().toLowerCase() || null;
    }
  }
  return { name, contentType };
}

/** Parameters of a header value; the first of each name counts. Extended ones (`filename*`) keep their star. */
function parameters(value: string): Map<string, string> {
  const found = new Map<string, string>();
  for (const match of value.matchAll(/;\s*([^\s=;"]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s;"]*))/g)) {
    const name = (match[1] as string).toLowerCase();
    const quoted = match[2]?.replace(/\\(["\\])/g, '$1');
    if (!found.has(name)) found.set(name, quoted ?? match[3] ?? '');
  }
  return found;
}

function broken(expected: string, got: string) {
  return invalidPart('audio', 'value_error.multipart', `Expected ${expected} for \`body\`, got ${got}`);
}
