/** Graceful shutdown by signals. */
import type { Logger } from 'pino';

type ShutdownOptions = {
  readonly logger: Logger;
  stop(): Promise<void>;
  /** Ends at once; the promise of `stop` may stay pending. */
  abort(): Promise<void>;
  exit(code: number): void;
};

const exitCodes = { stopped: 0, aborted: 1 } as const;
/** Ctrl-C signals every process of the group, and npm forwards it again. */
const repeatMs = 500;

/** First signal: graceful shutdown. Second: abort. Third: immediate exit. A repeat within `repeatMs` is ignored. */
export function handleSignals({ logger, stop, abort, exit }: ShutdownOptions): void {
  let first: { readonly signal: NodeJS.Signals; readonly at: number } | null = null;
  let code: number = exitCodes.stopped;
  const end = () => exit(code);
  const onSignal = (signal: NodeJS.Signals) => {
    if (first?.signal === signal && performance.now() - first.at < repeatMs) return;
    if (code !== exitCodes.stopped) return end();
    if (first !== null) {
      code = exitCodes.aborted;
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
