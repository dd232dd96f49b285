/** A progress bar on standard error. */
import { Presets, SingleBar } from 'cli-progress';

export type Progress = { advance(): void; stop(): void };

export function startProgress(what: string, total: number): Progress {
  const bar = new SingleBar(
    {
      format: `${what} {bar} {value}/{total}, {duration_formatted}, {eta_formatted} to go`,
      noTTYOutput: true,
      notTTYSchedule: 10_000,
    },
    Presets.shades_grey,
  );
  bar.start(total, 0);
  return { advance: () => bar.increment(), stop: () => bar.stop() };
}
