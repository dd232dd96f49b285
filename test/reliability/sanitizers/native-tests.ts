/** The native tests under a sanitizer, and the faults that it must tell of. */
import { join } from 'node:path';
import { type Outcome, parseDoctest } from '../../../scripts/results.ts';
import { caught, exactly, type Row } from '../case.ts';
import { execute } from '../program.ts';

/** What each of them prints first. */
const report = /^.*(ERROR: \w+Sanitizer|WARNING: \w+Sanitizer|runtime error).*$/gm;

export function reports({ output }: Outcome): Row {
  const found = output.match(report) ?? [];
  return exactly(0, { name: 'reports', unit: 'faults', value: found.length, note: found[0]?.trim() ?? '' });
}

/** The tests of a build, damaged recordings among them: `mutations` of each. */
export function runNativeTests(folder: string, sanitizer: string, mutations: number): Row[] {
  console.error(`native tests under ${sanitizer}`);
  const env = { ...process.env, UNDERTONE_MUTATIONS: String(mutations) };
  const ended = execute(join(folder, 'undertone_tests'), ['--no-colors=true'], { env });
  const { passed, failed } = parseDoctest(sanitizer, ended);
  const note = `${passed} passed`;
  const tests = exactly(0, { name: `${sanitizer}: native tests`, unit: 'failed', value: failed, note });
  return [tests, { ...reports(ended), name: `${sanitizer}: reports` }];
}

export function findPlanted(folder: string, fault: string): Row {
  return caught(fault, [reports(execute(join(folder, 'undertone_planted'), [fault]))]);
}
