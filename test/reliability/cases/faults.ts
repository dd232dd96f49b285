/** Faults of the machine: the service keeps running, and requests that do not need the faulty part succeed. */
import { negativeControl, type Options, type Row } from '../case.ts';
import { jumpingClock } from '../faults/clock.ts';
import { fewDescriptors } from '../faults/descriptors.ts';
import { littleMemory } from '../faults/memory.ts';
import { fullDisk, lockedDatabase } from '../faults/storage.ts';
import { preload } from '../support/preload.ts';
import { requireRoot } from '../support/program.ts';
import { buildService } from '../support/service.ts';

export async function run({ long }: Options): Promise<readonly Row[]> {
  requireRoot('faults');
  buildService();
  return [
    ...(await fullDisk()),
    ...(await lockedDatabase(long)),
    ...(await jumpingClock()),
    ...(await fewDescriptors({ long })),
    negativeControl('a service that exits on a 503', await fullDisk(preload('exit-on-503'))),
    negativeControl('durations measured by the wall clock', await jumpingClock(preload('wall-clock'))),
    negativeControl(
      'descriptors that are never closed',
      await fewDescriptors({ long, giveUpMs: 5000 }, preload('leaked-sockets')),
    ),
    ...(long ? await underLittleMemory() : []),
  ];
}

/** Long form only: which process the kernel kills depends on the speed of the machine. */
async function underLittleMemory(): Promise<readonly Row[]> {
  return [
    ...(await littleMemory('process')),
    negativeControl('little memory, analysis in threads', await littleMemory('thread')),
  ];
}
