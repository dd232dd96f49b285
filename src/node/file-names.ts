/**
 * Names of files as text. A name is bytes on Linux: each byte that is not UTF-8 becomes a lone surrogate from U+DC80 to U+DCFF, as in
 * Python (PEP 383), and is that byte again when the file is opened.
 */
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';

const escaped = /[\udc80-\udcff]/u;
const surrogates = 0xdc00;
const maxCharacterBytes = 4;

export function decodeName(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString();
  let name = '';
  let at = 0;
  while (at < bytes.length) {
    const length = characterBytes(bytes.subarray(at, at + maxCharacterBytes));
    name +=
      length > 0
        ? bytes.toString('utf8', at, at + length)
        : String.fromCharCode(surrogates + (bytes[at] as number));
    at += Math.max(1, length);
  }
  return name;
}

/** Length of the character of UTF-8 at the start; 0 without one. */
function characterBytes(bytes: Buffer): number {
  for (let length = 1; length <= bytes.length; length++) if (isUtf8(bytes.subarray(0, length))) return length;
  return 0;
}

/** What `node:fs` opens. */
export function encodeName(name: string): string | Buffer {
  if (!escaped.test(name)) return name;
  return Buffer.concat(
    Array.from(name, (character) =>
      escaped.test(character) ? Buffer.from([character.charCodeAt(0) - surrogates]) : Buffer.from(character),
    ),
  );
}

/** The arguments of the process after its script. Node.js replaces bytes that are not UTF-8. */
export function readArguments(): string[] {
  const given = process.argv.slice(2);
  if (!given.some((argument) => argument.includes('\ufffd'))) return given;
  const all = readFileSync('/proc/self/cmdline', 'latin1').split('\0').slice(0, -1);
  return all.slice(all.length - given.length).map((argument) => decodeName(Buffer.from(argument, 'latin1')));
}
