/** The reader of forms against Node's own, which shares no code with it. */
import test from 'ava';
import fc from 'fast-check';
import { ServiceError } from '../../src/service/errors.ts';
import { boundaryOf } from '../../src/service/multipart.ts';
import { type Part, readParts } from '../support/multipart-parts.ts';

const runs = Number(process.env.MUTATIONS ?? 300);
const settings = { numRuns: runs, seed: 1 };

/** What browsers escape in names is left out: writers do not agree on it. */
const name = fc
  .string({ unit: 'grapheme', maxLength: 20 })
  .filter((text) => !/["\\%\p{Cc}\p{Cs}]/u.test(text));
/** Bytes that look like what stands around them are likelier than by chance. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 30 }),
      fc.constantFrom('\r\n', '--', '\r\n--', '\n', '\r', '--b', '\r\n--b').map((text) => Buffer.from(text)),
    ),
    { maxLength: 8 },
  )
  .map((pieces) => Uint8Array.from(Buffer.concat(pieces)));
const entry = fc.record({ name, content, type: fc.constantFrom('audio/wav', '') });
const entries = fc.array(entry, { minLength: 1, maxLength: 6 });
type Entry = { readonly name: string; readonly content: Uint8Array<ArrayBuffer>; readonly type: string };

const shown = (name: string, bytes: Uint8Array): readonly [string, string] => [
  name,
  Buffer.from(bytes).toString('latin1'),
];
const meant = (list: readonly Entry[]) => list.map((one) => shown(one.name, one.content));
const read = (parts: readonly Part[]) => parts.map((part) => shown(part.name, part.bytes));

/** A form as Node writes it: all of it files, so that no line end is normalised. */
function nodeResponse(list: readonly Entry[]): Response {
  const form = new FormData();
  for (const one of list) form.append(one.name, new Blob([one.content]), 'x.wav');
  return new Response(form);
}

test('forms that Node writes are read with their names and contents', async (t) => {
  const property = fc.asyncProperty(entries, async (list) => {
    const response = nodeResponse(list);
    const boundary = boundaryOf(response.headers.get('content-type') ?? '') as string;
    const body = new Uint8Array(await response.arrayBuffer());
    t.deepEqual(read(readParts([body], boundary)), meant(list));
  });
  await fc.assert(property, settings);
});

test('whatever is read lies in the body, in order, and holds no boundary', (t) => {
  const line = /(^|\r\n)--b(--|[ \t]{0,256}\r\n)/;
  const body = fc
    .array(
      fc.oneof(
        content,
        fc
          .constantFrom(
            '--b\r\n',
            '\r\n--b\r\n',
            '--b--',
            '\n--b \n',
            'Content-Disposition: form-data; name=x',
            '\r\n\r\n',
          )
          .map((text) => Uint8Array.from(Buffer.from(text))),
      ),
      { maxLength: 30 },
    )
    .map((pieces) => Uint8Array.from(Buffer.concat(pieces)));
  let taken = 0;
  const property = fc.property(body, (bytes) => {
    let parts: Part[] = [];
    try {
      parts = readParts([bytes], 'b');
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
    }
    let end = 0;
    for (const part of parts) {
      if (part.bytes.length === 0) continue;
      const start = part.bytes.byteOffset - bytes.byteOffset;
      t.true(part.bytes.buffer === bytes.buffer && start >= end);
      end = start + part.bytes.byteLength;
      t.true(end <= bytes.byteLength && !line.test(Buffer.from(part.bytes).toString('latin1')));
      taken++;
    }
  });
  fc.assert(property, { ...settings, numRuns: 10 * runs });
  t.true(taken > 0);
});
