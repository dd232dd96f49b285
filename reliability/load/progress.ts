/** How far a long case is, on standard error. */
import { Presets, SingleBar } from 'cli-progress';

export type Progress = { advance(): void; stop(): void };

export function startProgress(name: string, total: number): Progress {
  const bar = new SingleBar(
    {
      format: `${name} {bar} {value}/{total}, {duration_formatted}`,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    },
    Presets.shades_grey,
  );
  bar.start(total, 0);
  return { advance: () => bar.increment(), stop: () => bar.stop() };
}
