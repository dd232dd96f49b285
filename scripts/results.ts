/** Reads the counts out of what the test runners print. */

export type Result = {
  readonly name: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
};

/** What a runner left behind: its exit status (null when a signal ended it) and its whole output. */
export type Outcome = { readonly status: number | null; readonly output: string };

/**
 * A runner that ran no test has failed, and so has one whose exit status says so while all its tests
 * passed (a crash after the last one).
 */
function judge(result: Result, status: number | null): Result {
  const ran = result.passed + result.failed;
  const sound = ran > 0 && (status === 0 || result.failed > 0);
  return sound ? result : { ...result, failed: result.failed + 1 };
}

/** TAP: `ok 1 - name`, `not ok 2 - name`, with `# SKIP` or `# TODO` behind tests that did not count. */
export function parseTap(name: string, { status, output }: Outcome): Result {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const line of output.split('\n')) {
    const match = /^(not )?ok\b(.*)$/.exec(line);
    if (!match) continue;
    if (/#\s*(skip|todo)\b/i.test(match[2] ?? '')) counts.skipped += 1;
    else if (match[1]) counts.failed += 1;
    else counts.passed += 1;
  }
  return judge({ name, ...counts }, status);
}

/** doctest: `[doctest] test cases: 3 | 2 passed | 1 failed | 0 skipped`. */
export function parseDoctest(name: string, { status, output }: Outcome): Result {
  const line = /^\[doctest\] test cases:.*$/m.exec(output)?.[0] ?? '';
  const count = (word: string): number => Number(new RegExp(`(\\d+) ${word}`).exec(line)?.[1] ?? 0);
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  return judge({ name, ...counts }, status);
}

/** A check that is one test: it passes when its command does. */
export function parseCheck(name: string, { status }: Outcome): Result {
  const passed = status === 0 ? 1 : 0;
  return { name, passed, failed: 1 - passed, skipped: 0 };
}

export function total(results: readonly Result[]): Result {
  const sum = (key: 'passed' | 'failed' | 'skipped'): number => results.reduce((n, one) => n + one[key], 0);
  return { name: 'total', passed: sum('passed'), failed: sum('failed'), skipped: sum('skipped') };
}

/** `N passed, N failed`, with `, N skipped` when there are any. */
export function summary({ passed, failed, skipped }: Result): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
