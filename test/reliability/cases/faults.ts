/** Faults of the machine under the service: none may end it, and what does not need the broken part goes on. */
import { caught, type Options, type Row } from '../case.ts';
import { jumpingClock } from '../faults/clock.ts';
import { fewDescriptors } from '../faults/descriptors.ts';
import { littleMemory } from '../faults/memory.ts';
import { fullDisk, lockedDatabase } from '../faults/storage.ts';
import { plant } from '../plant.ts';
import { requireRoot } from '../program.ts';
import { buildService } from '../service.ts';

export async function run({ long }: Options): Promise<readonly Row[]> {
  requireRoot('faults');
  buildService();
  return [
    ...(await fullDisk()),
    ...(await lockedDatabase(long)),
    ...(await jumpingClock()),
    ...(await fewDescriptors({ long })),
    caught('the service ends when it must refuse', await fullDisk(plant('gives-up'))),
    caught('durations by the clock of the day', await jumpingClock(plant('wall-clock'))),
    caught(
      'descriptors that are never given back',
      await fewDescriptors({ long, giveUpMs: 5000 }, plant('kept-sockets')),
    ),
    ...(long ? await underLittleMemory() : []),
  ];
}

/** Left out of the short form: where memory is short, the kernel chooses what it ends, and a slow machine changes that. */
async function underLittleMemory(): Promise<readonly Row[]> {
  return [
    ...(await littleMemory('process')),
    caught('little memory, and the analysis in threads of the service', await littleMemory('thread')),
  ];
}
