/** A signal without a use: the power of the samples. third-signal.test.ts adds it to a copy of the sources. */
import { z } from 'zod';
import { bodySchema } from '../../../src/engine/report-schema.ts';
import { roundTo } from '../../../src/engine/rounding.ts';
import type { SignalDefinition } from '../../../src/engine/signals/definition.ts';

type Chunk = { readonly power: number; readonly samples: number };

const scores = z.strictObject({ level_db: z.number().describe('RMS level of all samples, dB.') });
const body = bodySchema(scores, {});

export const energy: SignalDefinition<unknown, Chunk, number, typeof body> = {
  title: 'energy',
  inputs: ['tokens', 'weights', 'sums'],
  outputs: ['clarity', 'next_sums'],
  labels: z.null(),
  params: z.unknown(),
  usesBaseline: () => false,
  body,
  components: { EnergySignals: scores },
  columns: [{ name: 'level_db', field: 'level_db', table: ['LEVEL', 6] }],

  async infer({ speech: { audio } }) {
    return {
      power: audio.samples.reduce((sum, sample) => sum + sample ** 2, 0),
      samples: audio.samples.length,
    };
  },

  aggregate(chunks) {
    const power = chunks.reduce((sum, chunk) => sum + chunk.power, 0);
    return 10 * Math.log10(power / chunks.reduce((sum, { samples }) => sum + samples, 0));
  },

  report(level) {
    return { signals: level === null ? {} : { level_db: roundTo(level, 10) }, warnings: [] };
  },

  describe({ signals: { level_db } }) {
    return [['level', `${level_db} dB`]];
  },
};
