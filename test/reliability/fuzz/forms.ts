/** Coverage-guided fuzzing of the reader of forms, which is JavaScript: V8 tells which blocks were ever reached. */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { boundaryOf } from '../../../src/multipart/headers.ts';
import { ServiceError } from '../../../src/runtime/errors.ts';
import { createDice, type Dice } from '../corpus/dice.ts';
import { formOf } from '../corpus/forms.ts';
import { mutate } from '../corpus/mutate.ts';
import { type Part, readParts, toBlocks } from '../corpus/parts.ts';
import type { Amount, Fuzzed } from './fuzzer.ts';

export type Reader = (blocks: readonly Uint8Array[], boundary: string) => readonly Part[];

/** Inputs between two looks at what was reached: a look takes as long as ten of them. */
const batch = 20;
const firstForms = 50;
const longest = 1 << 14;
const slowMs = 1000;
/** The first line of an input is the boundary, the rest the body. */
const newline = 0x0a;

type Script = {
  readonly url: string;
  readonly functions: readonly { readonly functionName: string; readonly ranges: readonly object[] }[];
};

/** What each function of the files has reached, where that is more than when it was last asked. */
function watchBlocks(files: readonly string[]): { take(): string[]; close(): void } {
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

/** Throws what the reader throws and should not, and what is wrong with what it gives. */
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

function faultOf(input: Buffer, read: Reader): string | null {
  try {
    check(input, read);
    return null;
  } catch (error) {
    return String(error);
  }
}

function written(dice: Dice): Buffer {
  const { contentType, body } = formOf(dice);
  const boundary = /boundary="([^"]*)"/.exec(contentType ?? '')?.[1] ?? 'b';
  return Buffer.concat([Buffer.from(`"${boundary}"\n`), body]).subarray(0, longest);
}

function next(kept: readonly Buffer[], dice: Dice): Buffer {
  if (dice.oneIn(10)) return written(dice);
  return mutate(dice.pick(kept), dice, [dice.pick(kept), dice.pick(kept)]).subarray(0, longest);
}

/** What reaches more goes to `folder`/corpus, with what was tried just before. */
export function fuzzForms(
  folder: string,
  { seconds, runs, seed }: Amount,
  read: Reader = readParts,
  files: readonly string[] = ['multipart/reader.ts', 'multipart/headers.ts'],
): Fuzzed {
  const corpus = join(folder, 'corpus');
  mkdirSync(corpus, { recursive: true });
  const dice = createDice(seed);
  const kept: Buffer[] = readdirSync(corpus).map((name) => readFileSync(join(corpus, name)));
  for (let count = 0; count < firstForms; count++) kept.push(written(dice));
  const blocks = watchBlocks(files);
  const reached = new Set<string>();
  const started = performance.now();
  const elapsed = () => (performance.now() - started) / 1000;
  let [executions, finding]: [number, string | null] = [0, null];
  while (finding === null && elapsed() < seconds && (runs < 0 || executions < runs)) {
    const inputs = Array.from({ length: batch }, () => next(kept, dice));
    const faults = inputs.map((input) => faultOf(input, read));
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

/** Whoever plants it forgets a part that says that it is text, between others, and is empty. */
export const forgetful: Reader = (blocks, boundary) => {
  const parts = readParts(blocks, boundary);
  for (const [index, { contentType, bytes }] of parts.entries()) {
    if (contentType !== 'text/html') continue;
    if (index === 0) continue;
    if (bytes.length > 0) continue;
    if (parts.length > index + 1) throw new RangeError('planted');
  }
  return parts;
};
