/** Whether a URL is below a prefix for every server, however it decodes the path. */

/** Parsed once per configuration. */
const parsed = new WeakMap<readonly string[], readonly UrlPrefix[]>();

export function parsedPrefixes(urlPrefixes: readonly string[]): readonly UrlPrefix[] {
  const cached = parsed.get(urlPrefixes);
  if (cached !== undefined) return cached;
  const prefixes = urlPrefixes.map(parsePrefix).filter((prefix) => prefix !== null);
  parsed.set(urlPrefixes, prefixes);
  return prefixes;
}

/** Scheme and host without a user. The URL parser silently corrects other spellings. */
const plainUrl = /^https?:\/\/[^/?#@\\]+(?:[/?#].*)?$/i;
/** Control characters and spaces, which the parser removes, and backslashes, which become slashes. */
const corrected = /[\0-\x20\x7f\\]/;

/** Returns null unless the text is a plain http or https URL. */
export function parsePlainUrl(text: string): URL | null {
  return plainUrl.test(text) && !corrected.test(text) && URL.canParse(text) ? new URL(text) : null;
}

type UrlPrefix = { readonly origin: string; readonly folders: readonly string[] };

/** @param prefix ends in a slash @returns null when no URL can be below it */
function parsePrefix(prefix: string): UrlPrefix | null {
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

/** Decodes once. Returns null when further decoding, normalization or truncation by a server could change the path. */
function decodeSegments(pathname: string): readonly string[] | null {
  const segments = pathname.slice(1).split('/').map(decodeSegment);
  return segments.every((segment) => segment !== null) ? segments : null;
}

/** Separators, control characters and double encoding. */
const ambiguous = /[/\\\p{Cc}]|%[0-9a-f]{2}/iu;
/** Dot segments, also with spaces or path parameters, which some servers remove. */
const dots = /^[.\s]*(?:;|$)/;

/** Fast path: ASCII that every rule accepts and normalization does not change. */
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
