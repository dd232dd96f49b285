import test from 'ava';
import fc from 'fast-check';
import { ServiceError } from '../../src/service/errors.ts';
import { readForm } from '../../src/service/form.ts';
import { boundaryOf, createMultipartReader, type PartHeaders } from '../../src/service/multipart.ts';

/** Long form: UNDERTONE's goal is 20,000 mutated bodies. */
const mutations = Number(process.env.MUTATIONS ?? 2000);

function scan(text: string, boundary = 'b'): [string, string | null, string][] {
  const parts = readParts([Buffer.from(text, 'latin1')], boundary);
  return parts.map(({ name, contentType, bytes }) => [
    name,
    contentType,
    Buffer.from(bytes).toString('latin1'),
  ]);
}

function refusal(run: () => unknown): ServiceError {
  try {
    run();
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
  throw new Error('Expected a Failure, got none');
}

const field = (name: string) => `Content-Disposition: form-data; name="${name}"`;

test('a boundary is read quoted and unquoted, whatever the case and order', (t) => {
  t.is(boundaryOf('multipart/form-data; boundary=abc'), 'abc');
  t.is(boundaryOf('Multipart/Form-Data; charset=utf-8; BOUNDARY="a b:c"'), 'a b:c');
  t.is(boundaryOf('multipart/form-data;boundary=----WebKitFormBoundaryX7/=?'), '----WebKitFormBoundaryX7/=?');
  t.is(boundaryOf(`multipart/form-data; boundary=${'x'.repeat(70)}`), 'x'.repeat(70));
});

test('what is not multipart/form-data has no boundary', (t) => {
  for (const value of [
    undefined,
    '',
    'application/json',
    'multipart/mixed; boundary=x',
    'multipart/form-datax; boundary=x',
  ]) {
    t.is(boundaryOf(value), null);
  }
});

test('multipart/form-data without a usable boundary is broken', (t) => {
  const values = [
    '',
    '; boundary=',
    '; boundary=""',
    `; boundary=${'x'.repeat(71)}`,
    '; boundary="x "',
    '; boundary=\u00e9',
  ];
  for (const value of values) {
    t.is(refusal(() => boundaryOf(`multipart/form-data${value}`)).problems[0]?.reason, 'multipart');
  }
});

test('parts are views of the body, without their line breaks', (t) => {
  const body = Buffer.from(
    `--b\r\n${field('audio')}\r\nContent-Type: Audio/WAV; x=y\r\n\r\n\r\nda\r\nta\r\n\r\n--b--\r\n`,
  );
  const [part] = readParts([body], 'b') as [Part];
  t.is(part.bytes.buffer, body.buffer);
  t.deepEqual(scan(body.toString('latin1')), [['audio', 'audio/wav', '\r\nda\r\nta\r\n']]);
});

test('preamble, epilogue, padding and longer boundaries are passed over', (t) => {
  const body = `preamble --b\r\n--bb\r\n--b \t\r\n${field('a')}\r\n\r\nx\r\n--bc\r\n--b\r\n${field('a')}\r\n\r\n\r\n--b--epilogue\r\n--b\r\n`;
  t.deepEqual(scan(body), [
    ['a', null, 'x\r\n--bc'],
    ['a', null, ''],
  ]);
});

test('line feeds alone end no line', (t) => {
  const body = `--b\r\n${field('a')}\r\n\r\nx\n--b\r\ny\r\n--b\n\r\n--b--`;
  t.deepEqual(scan(body), [['a', null, 'x\n--b\r\ny\r\n--b\n']]);
});

test('a part without headers or name has no name', (t) => {
  t.deepEqual(
    scan('--b\r\n\r\nx\r\n--b\r\nContent-Disposition: attachment; name="audio"\r\n\r\ny\r\n--b--'),
    [
      ['', null, 'x'],
      ['', null, 'y'],
    ],
  );
});

test('the name is found next to file names of every style', (t) => {
  const dispositions = [
    'form-data; name=audio',
    'form-data; filename="a; name=\\"no\\".wav"; name="audio"',
    'form-data; name="audio"; filename*=utf-8\'\'na%22me.wav; filename=x',
    'FORM-DATA; Name="audio"; name="second"',
  ];
  for (const disposition of dispositions) {
    t.is(scan(`--b\r\nContent-Disposition: ${disposition}\r\n\r\nx\r\n--b--`)[0]?.[0], 'audio');
  }
});

const brokenBodies: Record<string, string> = {
  'an empty body': '',
  'no boundary': 'hello',
  'another boundary': '--c\r\n\r\n--c--',
  'a boundary alone': '--b\r\n',
  'headers only': `--b\r\n${field('audio')}`,
  'headers with one line break': `--b\r\n${field('audio')}\r\n`,
  'no closing boundary': `--b\r\n${field('audio')}\r\n\r\ndata`,
  'a header without a colon': '--b\r\nnonsense\r\n\r\n\r\n--b--',
  'headers that are too long': `--b\r\nX: ${'x'.repeat(16_400)}\r\n\r\n\r\n--b--`,
  'too many parts': `${`--b\r\n${field('x')}\r\n\r\n\r\n`.repeat(65)}--b--`,
};

for (const [name, body] of Object.entries(brokenBodies)) {
  test(`${name} is a broken multipart`, (t) => {
    const failure = refusal(() => scan(body));
    t.is(failure.code, 'invalid');
    t.is(failure.problems[0]?.reason, 'multipart');
    t.is(failure.problems[0]?.field, 'audio');
    t.regex(failure.message, /^Expected .+ for `body`, got .+$/);
  });
}

test('64 parts are accepted', (t) => {
  t.is(scan(`${`--b\r\n${field('x')}\r\n\r\n\r\n`.repeat(64)}--b--`).length, 64);
});

const seedBody = Buffer.from(
  `--b\r\n${field('audio')}; filename="x.wav"\r\nContent-Type: audio/wav\r\n\r\nRIFF\0\0\0\0WAVE\r\n--b\r\n${field('channel')}\r\n\r\n1\r\n--b--\r\n`,
);

/** Cuts, flips, repeats, and inserts what a scanner may stumble over. */
const mutation = fc.record({
  at: fc.nat(seedBody.length),
  remove: fc.nat(24),
  insert: fc.oneof(
    fc.uint8Array({ maxLength: 8 }),
    fc
      .constantFrom('--b', '\r\n--b', '\n', '\r', '--', '\r\n\r\n', '"', '\\', ':', ';', 'name=')
      .map((text) => Buffer.from(text)),
  ),
});

type Mutation = { readonly at: number; readonly remove: number; readonly insert: Uint8Array };

function mutated(steps: readonly Mutation[]): Buffer {
  return steps.reduce<Buffer>(
    (body, { at, remove, insert }) =>
      Buffer.concat([body.subarray(0, at), insert, body.subarray(at + remove)]),
    seedBody,
  );
}

/** The parts, or why there are none. */
function partsOf(blocks: readonly Uint8Array[]): unknown {
  try {
    return readParts(blocks, 'b').map((part) => ({ ...part, bytes: Uint8Array.from(part.bytes) }));
  } catch (error) {
    if (error instanceof ServiceError) return error.problems;
    throw error;
  }
}

test('however a body is divided into blocks, it has the same parts and the same fault', (t) => {
  const lengths = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 5 });
  const property = fc.property(fc.array(mutation, { maxLength: 6 }), lengths, (steps, divided) => {
    const body = mutated(steps);
    t.deepEqual(partsOf(toBlocks(body, divided)), partsOf([body]));
  });
  fc.assert(property, { numRuns: mutations, seed: 1 });
  for (const body of Object.values(brokenBodies)) {
    const bytes = Buffer.from(body);
    t.deepEqual(partsOf(toBlocks(bytes, [1])), partsOf([bytes]));
  }
});

test('mutated bodies and boundaries never throw anything but a Failure', (t) => {
  let taken = 0;
  const property = fc.property(
    fc.array(mutation, { minLength: 1, maxLength: 6 }),
    fc.string({ maxLength: 40 }),
    (steps, header) => {
      const body = mutated(steps);
      try {
        boundaryOf(`multipart/form-data; boundary=${header}`);
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
      try {
        const form = readForm(body, 'b');
        if (form.audio.byteLength === 0) throw new Error('Expected audio, got no bytes');
        taken++;
      } catch (error) {
        if (!(error instanceof ServiceError)) throw error;
      }
    },
  );
  fc.assert(property, { numRuns: mutations, seed: 1 });
  t.true(taken > 0 && taken < mutations);
});

// The reader of forms against Node's own, which shares no code with it.

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

// Every part of a form, as the reader of uploads passes it on.

type Part = PartHeaders & { readonly bytes: Uint8Array };

/** The contents are views of a body that is a single block. @throws Failure */
function readParts(blocks: readonly Uint8Array[], boundary: string): Part[] {
  const parts: Part[] = [];
  const reader = createMultipartReader(boundary, (headers) => {
    const pieces: Uint8Array[] = [];
    return {
      data: (bytes) => pieces.push(bytes),
      end: () =>
        parts.push({
          ...headers,
          bytes: pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces),
        }),
    };
  });
  for (const block of blocks) reader.write(block);
  reader.end();
  return parts;
}

/** The body in blocks whose lengths repeat; the last one may be shorter. */
function toBlocks(body: Uint8Array, lengths: readonly number[]): Uint8Array[] {
  const blocks: Uint8Array[] = [];
  for (let at = 0; at < body.length; ) {
    const length = lengths[blocks.length % lengths.length] ?? body.length;
    blocks.push(body.subarray(at, at + length));
    at += length;
  }
  return blocks;
}
