/** The native tests under every sanitizer, and the tests of the addon inside Node. */

import type { Options, Row } from '../case.ts';
import { checkInjectedFault, runNativeTests } from '../sanitizers/native-tests.ts';
import { checkInjectedFaultInNode, runNodeTests } from '../sanitizers/node-tests.ts';
import { buildChecked, buildThreads } from '../support/native.ts';

const shortMutations = 3;
const longMutations = 100;

export async function run({ long, count }: Options): Promise<readonly Row[]> {
  const mutations = count ?? (long ? longMutations : shortMutations);
  const targets = ['undertone_tests', 'undertone_planted'];
  const folder = buildChecked(targets);
  const rows = [
    ...runNativeTests(folder, 'address,undefined', mutations),
    checkInjectedFault(folder, 'address'),
    checkInjectedFault(folder, 'undefined'),
  ];
  if (!long) return rows;
  const threads = buildThreads(targets);
  return [
    ...rows,
    ...runNativeTests(threads, 'thread', shortMutations),
    checkInjectedFault(threads, 'thread'),
    ...runNodeTests(),
    checkInjectedFaultInNode(),
  ];
}
