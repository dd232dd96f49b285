/** Graceful shutdown by signals of the system, or by the end of npx. */
import type { Logger } from 'pino';

type ShutdownOptions = {
  readonly logger: Logger;
  stop(): Promise<void>;
  /** Ends at once; the promise of `stop` may stay pending. */
  abort(): Promise<void>;
  exit(code: number): void;
  /** Of `npxParent`: its end is SIGTERM, unless a signal came before. */
  readonly parent: number | null;
};

const exitCodes = { stopped: 0, aborted: 1 } as const;
/** Ctrl-C signals every process of the group, and npm forwards it again. */
const repeatMs = 500;
const parentCheckMs = 500;

/**
 * npx ends at SIGTERM, with the shell that it started, and forwards nothing: the service would go on without them.
 * @returns the process id of that shell; null for a process that npx did not start
 */
export function npxParent(env: Readonly<Record<string, string | undefined>>): number | null {
  const { npm_command: command, npm_lifecycle_script: script = '' } = env;
  // A program that npx started may start the service too, and end before it.
  return command === 'exec' && /^\W*undertone\b/.test(script) ? process.ppid : null;
}

/** First signal: graceful shutdown. Second: abort. Third: immediate exit. A repeat within `repeatMs` is ignored. */
export function handleSignals({ logger, stop, abort, exit, parent }: ShutdownOptions): void {
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
  if (parent === null) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    if (first === null) onSignal('SIGTERM');
  }, parentCheckMs);
  timer.unref();
}
