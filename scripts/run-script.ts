/** How scripts end: an expected failure is its message and exit code 1; an error of the code has a stack trace. */
import { existsSync } from 'node:fs';

/** A failure that a script expects: its message says what to do, and a stack trace would not help. */
export class ExpectedError extends Error {}

/** @throws ExpectedError without the file, with how to get it */
export function requireFile(path: string, remedy: string): void {
  if (!existsSync(path)) throw new ExpectedError(`Expected ${path}, got none: ${remedy}`);
}

/** @throws ExpectedError when there is an unknown name among those given */
export function requireNames(known: readonly string[], given: readonly string[]): void {
  const unknown = given.filter((name) => !known.includes(name));
  if (unknown.length > 0)
    throw new ExpectedError(`Expected one of ${known.join(', ')}, got "${unknown.join(' ')}"`);
}

export async function runScript(main: () => void | Promise<void>): Promise<void> {
  try {
    await main();
  } catch (error) {
    const message = describe(error);
    if (message === null) throw error;
    console.error(message);
    process.exitCode = 1;
  }
}

/** Null for an error of the code. */
function describe(error: unknown): string | null {
  if (error instanceof ExpectedError) return error.message;
  if (!(error instanceof Error)) return null;
  const { code, path, syscall, status } = error as NodeJS.ErrnoException & {
    readonly status?: number | null;
  };
  if (syscall?.startsWith('spawn')) return `Expected a program ${path} that can be run, got ${code}`;
  // Thrown by execFileSync, whose program has printed what is wrong; and by parseArgs.
  if (typeof status === 'number') return error.message.split('\n', 1)[0] ?? '';
  return code?.startsWith('ERR_PARSE_ARGS_') ? error.message : null;
}
