/** How far a long piece of work is, on standard error when that is a terminal. */
import { Presets, SingleBar } from 'cli-progress';

export type Bar = { step(): void; end(): void };

export function showBar(what: string, total: number): Bar {
  const shown = process.stderr.isTTY === true;
  const format = `${what} {bar} {value}/{total}, {eta_formatted} to go`;
  const bar = new SingleBar(
    { stream: process.stderr, format, clearOnComplete: true, hideCursor: null },
    Presets.shades_classic,
  );
  if (shown) bar.start(total, 0);
  return {
    step: () => {
      if (shown) bar.increment();
    },
    end: () => {
      if (shown) bar.stop();
    },
  };
}
