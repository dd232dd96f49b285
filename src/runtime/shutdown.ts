/** The end of a process that works until it is told to stop. */
import type { Logger } from 'pino';

export type ShutdownOptions = {
  readonly logger: Logger;
  stop(): Promise<void>;
  /** What would take long is given up; the promise of `stop` may stay open. */
  abort(): Promise<void>;
  exit(code: number): void;
};

const exitCodes = { stopped: 0, brokenOff: 1 } as const;
/** Ctrl-C reaches every process of the terminal's group, and npm passes it on to its child once more. */
const repeatMs = 500;

/** The first signal ends the process in order, the second at once, unless it is the first one's echo, a third there and then. */
export function handleSignals({ logger, stop, abort, exit }: ShutdownOptions): void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
  let code: number = exitCodes.stopped;
  const end = () => exit(code);
  const onSignal = (signal: NodeJS.Signals) => {
    if (first?.signal === signal && performance.now() - first.at < repeatMs) return;
    if (code !== exitCodes.stopped) return end();
    if (first !== null) {
      code = exitCodes.brokenOff;
      void abort().finally(end);
      return;
    }
    first = { signal, at: performance.now() };
    logger.info({ signal }, 'stopping');
    void stop().finally(end);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
}
