/** Headers of a form and its parts (RFC 7578, RFC 2046 section 5.1). */
import { invalidPart, type ServiceError } from '../runtime/errors.ts';

export type PartHeaders = {
  /** Empty when missing. */
  readonly name: string;
  /** Media type in lower case without parameters; null when missing. */
  readonly contentType: string | null;
};

const maxBoundary = 70;

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
export function parseHeaders(lines: readonly string[]): PartHeaders {
  let name = '';
  let contentType: string | null = null;
  for (const line of lines) {
    const colon = line.indexOf(':');
    if (colon < 1) throw malformed('`Name: value` in the headers of a part', 'another line');
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

export function malformed(expected: string, got: string): ServiceError {
  return invalidPart('audio', 'multipart', `Expected ${expected} for \`body\`, got ${got}`);
}
