/** JSON of clients, in bodies and in parts of forms: UTF-8, and no name is `__proto__`. */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** @throws TypeError for bytes that are not UTF-8 */
export function decodeUtf8(bytes: Uint8Array): string {
  return utf8.decode(bytes);
}

/** In a text without it no name is `__proto__`. */
const mayNameProto = /__proto__|\\u/;

/** @throws SyntaxError for other text */
export function parseJson(text: string): unknown {
  if (!mayNameProto.test(text)) return JSON.parse(text);
  return JSON.parse(text, (name, value) => {
    if (name === '__proto__') throw new SyntaxError('Expected another name, got __proto__');
    return value;
  });
}
