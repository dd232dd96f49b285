import { Presets, SingleBar } from 'cli-progress';
import { type CliContext, writeLine } from './context.ts';

export type Progress = {
  /** Counts a finished file. Writes `line` to standard output, above the bar. */
  step(line?: string): Promise<void>;
  end(summary: string): void;
};

const clearLine = '\r\x1b[K';

/** Shows a bar on standard error if that is a terminal. */
export function showProgress(total: number, { stdout, stderr }: CliContext): Progress {
  const shown = stderr.isTTY === true && total > 1;
  const format = '{bar} {value}/{total} files, {eta_formatted} to go';
  const bar = new SingleBar(
    { stream: stderr, format, clearOnComplete: true, forceRedraw: true, hideCursor: true },
    Presets.shades_classic,
  );
  const removeHandlers = shown ? stopOnSignals(bar) : null;
  if (shown) bar.start(total, 0);
  return {
    async step(line) {
      if (line !== undefined) {
        if (shown && stdout.isTTY) stderr.write(clearLine);
        await writeLine(stdout, line);
      }
      if (shown) bar.increment();
    },
    end(summary) {
      removeHandlers?.();
      if (shown) bar.stop();
      stderr.write(`${summary}\n`);
    },
  };
}

/** Restores the cursor before a signal ends the process. @returns a function that removes the handlers */
function stopOnSignals(bar: SingleBar): () => void {
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  const removeHandlers = () => {
    for (const signal of signals) process.off(signal, end);
  };
  function end(signal: NodeJS.Signals): void {
    removeHandlers();
    bar.stop();
    process.kill(process.pid, signal);
  }
  for (const signal of signals) process.on(signal, end);
  return removeHandlers;
}

export function countFiles(count: number): string {
  return `${count} ${count === 1 ? 'file' : 'files'}`;
}
