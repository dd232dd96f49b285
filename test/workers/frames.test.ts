import test from 'ava';
import { createFrameDecoder, encodeFrame, readFrame } from '../../src/workers/frames.ts';

const blocks = [Buffer.from('first block'), Buffer.from(', second block')];
const sent = Buffer.concat([
  ...encodeFrame({ number: 1, nan: Number.NaN }, blocks),
  ...encodeFrame({ number: 2 }),
  ...encodeFrame({ number: 3 }, [new Uint8Array(100_000).fill(7)]),
]);
const expected = [
  [{ number: 1, nan: Number.NaN }, 'first block, second block'],
  [{ number: 2 }, ''],
  [{ number: 3 }, Buffer.alloc(100_000, 7).toString()],
];

for (const size of [1, 7, 4096, sent.length]) {
  test(`frames arrive in chunks of ${size} bytes`, (t) => {
    const frames: unknown[] = [];
    const decode = createFrameDecoder(({ message, bytes }) =>
      frames.push([message, Buffer.from(bytes).toString()]),
    );
    for (let at = 0; at < sent.length; at += size) decode(sent.subarray(at, at + size));
    t.deepEqual(frames, expected);
  });
}

test('frames are read one after the other, and a stream that ends inside one ends', (t) => {
  let at = 0;
  const read = (target: Uint8Array) => {
    const part = sent.subarray(at, at + target.length);
    target.set(part);
    at += target.length;
    return part.length === target.length;
  };
  const next = () => {
    const frame = readFrame(read);
    return frame && [frame.message, Buffer.from(frame.bytes).toString()];
  };
  t.deepEqual([next(), next(), next(), next()], [...expected, null]);
  at = sent.length - 1;
  t.is(next(), null);
});
