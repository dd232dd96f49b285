/** URLs that others give us, and whether one is below a prefix for every server that may decode its path differently. */

/** Scheme and host without a user; browsers and Node.js would correct what is written otherwise. */
const plainUrl = /^https?:\/\/[^/?#@\\]+(?:[/?#].*)?$/i;
// Control characters and spaces, which the parser removes, and backslashes, which it makes slashes.
const corrected = /[\0-\x20\x7f\\]/;

/** Null for everything but a plain http or https URL. */
export function parsePlainUrl(text: string): URL | null {
  return plainUrl.test(text) && !corrected.test(text) && URL.canParse(text) ? new URL(text) : null;
}

export type UrlPrefix = { readonly origin: string; readonly folders: readonly string[] };

/** @param prefix ends in a slash. Returns null when no URL can be below it. */
export function parsePrefix(prefix: string): UrlPrefix | null {
  const { origin, pathname } = new URL(prefix);
  const folders = decodeSegments(pathname)?.slice(0, -1);
  return folders === undefined ? null : { origin, folders };
}

export function isBelowAny({ origin, pathname }: URL, prefixes: readonly UrlPrefix[]): boolean {
  const segments = decodeSegments(pathname);
  return (
    segments !== null && prefixes.some((prefix) => prefix.origin === origin && startsWith(segments, prefix))
  );
}

function startsWith(segments: readonly string[], { folders }: UrlPrefix): boolean {
  return segments.length > folders.length && folders.every((folder, index) => folder === segments[index]);
}

/** Decoded once; null when a server that decodes, normalizes or cuts a segment once more could read another path. */
function decodeSegments(pathname: string): readonly string[] | null {
  const segments = pathname.slice(1).split('/').map(decodeSegment);
  return segments.every((segment) => segment !== null) ? segments : null;
}

/** What ends a segment, or is encoded again. */
const ambiguous = /[/\\\p{Cc}]|%[0-9a-f]{2}/iu;
/** What is left of dot segments without the path parameters that some servers remove, and spaces. */
const dots = /^[.\s]*(?:;|$)/;

/** ASCII that no rule refuses and no normalization changes. */
const plainSegment = /^[\w~-][\w ~=&.-]*$/;

function decodeSegment(segment: string): string | null {
  if (segment === '') return segment;
  const decoded = decodeUtf8(segment);
  if (decoded === null) return null;
  if (plainSegment.test(decoded)) return decoded;
  const forms = [decoded, decoded.normalize('NFKC')];
  return forms.some((form) => ambiguous.test(form) || dots.test(form)) ? null : decoded;
}

function decodeUtf8(segment: string): string | null {
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
}
