/** Coverage-guided fuzzing of the multipart reader, by V8's block coverage. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { boundaryOf } from '../../../src/multipart/headers.ts';
import { ServiceError } from '../../../src/runtime/errors.ts';
import { formOf } from '../corpus/forms.ts';
import { mutate } from '../corpus/mutate.ts';
import { type Part, readParts, toBlocks } from '../corpus/parts.ts';
import { createPrng, type Prng } from '../support/prng.ts';
import type { Amount, Fuzzed } from './fuzzer.ts';

export type Reader = (blocks: readonly Uint8Array[], boundary: string) => readonly Part[];

/** Inputs per coverage report; a report takes as long as ten inputs. */
const batch = 20;
const firstForms = 50;
const maxBytes = 1 << 14;
const slowMs = 1000;
/** The first line of an input is the boundary, the rest the body. */
const newline = 0x0a;

type Script = {
  readonly url: string;
  readonly functions: readonly { readonly functionName: string; readonly ranges: readonly object[] }[];
};

/** Coverage of each function of `files` that changed since the last report. */
function startCoverage(files: readonly string[]): { take(): string[]; close(): void } {
  const session = new Session();
  session.connect();
  session.post('Profiler.enable');
  session.post('Profiler.startPreciseCoverage', { callCount: false, detailed: true });
  const take = () => {
    let scripts: readonly Script[] = [];
    session.post('Profiler.takePreciseCoverage', (_, answer) => {
      scripts = answer.result;
    });
    const ours = scripts.filter(({ url }) => files.some((file) => url.endsWith(file)));
    return ours.flatMap(({ functions }) => functions.map((one) => JSON.stringify(one)));
  };
  return { take, close: () => session.disconnect() };
}

function boundaryIn(line: string): string {
  try {
    return boundaryOf(`multipart/form-data; boundary=${line}`) ?? 'b';
  } catch (error) {
    if (error instanceof ServiceError) return 'b';
    throw error;
  }
}

type Refused = { readonly refused: string };

function partsOf(blocks: readonly Uint8Array[], boundary: string, read: Reader): readonly Part[] | Refused {
  try {
    return read(blocks, boundary);
  } catch (error) {
    if (error instanceof ServiceError) return { refused: error.message };
    throw error;
  }
}

/** Throws unexpected errors of the reader, and errors for wrong parts. */
function check(input: Buffer, read: Reader): void {
  const end = input.indexOf(newline);
  const body = input.subarray(end + 1);
  const boundary = boundaryIn(input.toString('latin1', 0, Math.max(0, end)));
  const started = performance.now();
  const parts = partsOf([body], boundary, read);
  if (performance.now() - started > slowMs)
    throw new Error(`more than ${slowMs} ms for ${input.length} bytes`);
  const blocks = toBlocks(body, [1 + (input.length % 7), 1, 1 + (input.length % 90)]);
  if (!isDeepStrictEqual(partsOf(blocks, boundary, read), parts))
    throw new Error('other parts in other blocks');
  if ('refused' in parts) return;
  let from = body.byteOffset;
  for (const { bytes } of parts) {
    if (bytes.length === 0) continue;
    if (bytes.buffer !== body.buffer || bytes.byteOffset < from) throw new Error('a part outside the body');
    from = bytes.byteOffset + bytes.byteLength;
  }
  if (from > body.byteOffset + body.byteLength) throw new Error('a part past the end of the body');
}

function errorOf(input: Buffer, read: Reader): string | null {
  try {
    check(input, read);
    return null;
  } catch (error) {
    return String(error);
  }
}

function written(prng: Prng): Buffer {
  const { contentType, body } = formOf(prng);
  const boundary = /boundary="([^"]*)"/.exec(contentType ?? '')?.[1] ?? 'b';
  return Buffer.concat([Buffer.from(`"${boundary}"\n`), body]).subarray(0, maxBytes);
}

function next(kept: readonly Buffer[], prng: Prng): Buffer {
  if (prng.oneIn(10)) return written(prng);
  return mutate(prng.pick(kept), prng, [prng.pick(kept), prng.pick(kept)]).subarray(0, maxBytes);
}

/** Adds inputs with new coverage, and those of the same batch, to `folder`/corpus. */
export function fuzzForms(
  folder: string,
  { seconds, runs, seed }: Amount,
  read: Reader = readParts,
  files: readonly string[] = ['multipart/reader.ts', 'multipart/headers.ts'],
): Fuzzed {
  const corpus = join(folder, 'corpus');
  mkdirSync(corpus, { recursive: true });
  const prng = createPrng(seed);
  const kept: Buffer[] = readdirSync(corpus).map((name) => readFileSync(join(corpus, name)));
  for (let count = 0; count < firstForms; count++) kept.push(written(prng));
  const blocks = startCoverage(files);
  const reached = new Set<string>();
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  let [executions, finding]: [number, string | null] = [0, null];
  while (finding === null && elapsed() < seconds && (runs < 0 || executions < runs)) {
    const inputs = Array.from({ length: batch }, () => next(kept, prng));
    const faults = inputs.map((input) => errorOf(input, read));
    finding = faults.find((fault) => fault !== null) ?? null;
    executions += batch;
    const more = blocks.take().filter((one) => !reached.has(one));
    for (const one of more) reached.add(one);
    if (more.length > 0) kept.push(...inputs);
  }
  blocks.close();
  for (const input of kept) writeFileSync(join(corpus, nameOf(input)), input);
  return { executions, seconds: elapsed(), edges: reached.size, finding };
}

const nameOf = (input: Buffer) => createHash('sha256').update(input).digest('hex').slice(0, 16);

/** Injected fault: fails at an empty text/html part between others. */
export const failingReader: Reader = (blocks, boundary) => {
  const parts = readParts(blocks, boundary);
  for (const [index, { contentType, bytes }] of parts.entries()) {
    if (contentType !== 'text/html') continue;
    if (index === 0) continue;
    if (bytes.length > 0) continue;
    if (parts.length > index + 1) throw new RangeError('planted');
  }
  return parts;
};
