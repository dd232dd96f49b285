/** One request of a campaign: which file, how damaged, under what name, on what path. */
import type { PartSpec } from '../../support/upload.ts';
import { createDice } from './dice.ts';
import { mutate } from './mutate.ts';
import type { Sources } from './sources.ts';

export type Mutation = {
  readonly number: number;
  /** Of the file that it began with. */
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
/** One in so many begins with a bomb. */
const bombEvery = 500;
/** One in so many is sent as it was. */
const wholeEvery = 12;

/** The first requests of a campaign are its crashers, whole; then the same seed and number give the same bytes. */
export function mutationOf(seed: number, number: number, sources: Sources): Mutation {
  const crasher = sources.crashers[number];
  const dice = createDice(seed, number);
  const path = dice.pick(paths);
  if (crasher !== undefined)
    return { number, from: crasher.name, path, parts: [{ name: 'audio', bytes: crasher.bytes }] };
  const source = dice.pick(dice.oneIn(bombEvery) ? sources.bombs : sources.all);
  const others = [dice.pick(sources.all).bytes, dice.pick(sources.all).bytes];
  const bytes = dice.oneIn(wholeEvery) ? source.bytes : mutate(source.bytes, dice, others);
  const [type, filename] = [dice.pick(types), dice.pick(filenames)];
  const audio: PartSpec = {
    name: 'audio',
    bytes,
    ...(type === undefined ? {} : { type }),
    ...(filename === undefined ? {} : { filename: filename.replaceAll('"', '') }),
  };
  const parts = [audio];
  if (dice.oneIn(16)) parts.push({ name: 'channel', bytes: dice.pick(['0', '1', '9999', '-1', 'NaN', '']) });
  if (dice.oneIn(16))
    parts.push({ name: 'baseline', bytes: dice.oneIn(2) ? bytes : dice.pick(sources.all).bytes });
  return { number, from: source.name, path, parts };
}
