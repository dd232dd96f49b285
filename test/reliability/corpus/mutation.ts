/** One request of a campaign: file, mutations, name and path. */
import type { PartSpec } from '../../../benchmarks/upload-body.ts';
import { createPrng } from '../support/prng.ts';
import { mutate } from './mutate.ts';
import type { Sources } from './sources.ts';

export type Mutation = {
  readonly number: number;
  /** Name of the source file. */
  readonly from: string;
  readonly path: string;
  readonly parts: readonly PartSpec[];
};

const paths = ['/v1/analyze', '/v1/analyze', '/v1/analyze/emotion', '/v1/analyze/cognitive'];
const types = ['audio/wav', 'audio/mpeg', 'video/mp4', 'application/octet-stream', 'audio/x', undefined];
const filenames = [
  'a.wav',
  'a.mp3',
  '../../etc/passwd',
  'a.m3u8',
  '\u202egpj.wav',
  'x'.repeat(300),
  undefined,
];
/** One in so many mutates a decompression bomb. */
const bombEvery = 500;
/** One in so many is not mutated. */
const wholeEvery = 12;

/** The regression files come first, unchanged; then seed and number determine the bytes. */
export function mutationOf(seed: number, number: number, sources: Sources): Mutation {
  const crasher = sources.crashers[number];
  const prng = createPrng(seed, number);
  const path = prng.pick(paths);
  if (crasher !== undefined)
    return { number, from: crasher.name, path, parts: [{ name: 'audio', bytes: crasher.bytes }] };
  const source = prng.pick(prng.oneIn(bombEvery) ? sources.bombs : sources.all);
  const others = [prng.pick(sources.all).bytes, prng.pick(sources.all).bytes];
  const bytes = prng.oneIn(wholeEvery) ? source.bytes : mutate(source.bytes, prng, others);
  const [type, filename] = [prng.pick(types), prng.pick(filenames)];
  const audio: PartSpec = {
    name: 'audio',
    bytes,
    ...(type === undefined ? {} : { type }),
    ...(filename === undefined ? {} : { filename: filename.replaceAll('"', '') }),
  };
  const parts = [audio];
  if (prng.oneIn(16)) parts.push({ name: 'channel', bytes: prng.pick(['0', '1', '9999', '-1', 'NaN', '']) });
  if (prng.oneIn(16))
    parts.push({ name: 'baseline', bytes: prng.oneIn(2) ? bytes : prng.pick(sources.all).bytes });
  return { number, from: source.name, path, parts };
}
