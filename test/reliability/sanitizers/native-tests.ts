/** The native tests under a sanitizer, and injected faults that it must report. */
import { join } from 'node:path';
import { type Outcome, parseDoctest } from '../../../scripts/results.ts';
import { exactly, negativeControl, type Row } from '../case.ts';
import { execute } from '../support/program.ts';

/** First line of a report. */
const report = /^.*(ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error).*$/gm;

export function reports({ output }: Outcome): Row {
  const found = output.match(report) ?? [];
  return exactly(0, 'reports', 'faults', found.length, found[0]?.trim() ?? '');
}

/** The tests of a build, damaged recordings among them: `mutations` of each. */
export function runNativeTests(folder: string, sanitizer: string, mutations: number): Row[] {
  console.error(`native tests under ${sanitizer}`);
  const env = { ...process.env, UNDERTONE_MUTATIONS: String(mutations) };
  const ended = execute(join(folder, 'undertone_tests'), ['--no-colors=true'], { env });
  const { passed, failed } = parseDoctest(sanitizer, ended);
  const note = `${passed} passed`;
  const tests = exactly(0, `${sanitizer}: native tests`, 'failed', failed, note);
  return [tests, { ...reports(ended), name: `${sanitizer}: reports` }];
}

export function checkInjectedFault(folder: string, fault: string): Row {
  return negativeControl(fault, [reports(execute(join(folder, 'undertone_planted'), [fault]))]);
}
