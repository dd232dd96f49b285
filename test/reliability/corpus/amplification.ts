/** Files of a few megabytes that need minutes or gigabytes in a careless reader. `test/native/decode` tests others. */
import { deflateSync } from 'node:zlib';
import type { Source } from './malformed.ts';
import { box, element, number, times, webm } from './writers.ts';

/** In descending order: each is inserted before all others. */
const cues = (count: number) =>
  times(count, (index) =>
    element(
      'bb',
      element('b3', number(count - index, 4)),
      element('b7', element('f7', number(1, 1)), element('f1', number(9, 1))),
    ),
  );

/** Packets of ten kilobytes that are ten megabytes of zeros. */
function inflated(): Buffer {
  const packet = deflateSync(Buffer.alloc(9_900_000), { level: 9 });
  const compression = element('5034', element('4254', number(0, 1)));
  const track = element('6d80', element('6240', element('5031', number(0, 1)), compression));
  return webm({ codec: 'A_MPEG/L3', track, packet, packets: 1500 });
}

/** Sent unchanged at the start of every campaign. */
export const amplificationFiles = (m4a: Buffer): readonly Source[] => [
  { name: 'WebM of 200,000 cues', bytes: webm({ before: element('1c53bb6b', cues(200_000)) }) },
  { name: 'WebM of packets of 10 MB', bytes: inflated() },
  { name: 'M4A of 1,500,000 fragments', bytes: Buffer.concat([m4a, Buffer.alloc(12_000_000, box('moof'))]) },
];
