/** The native tests under every sanitizer, and the tests of the addon inside Node. */

import { installPackages } from '../../benchmarks/packages.ts';
import type { Options, Row } from '../case.ts';
import { buildNative, checked } from '../native.ts';
import { findPlanted, runNativeTests } from '../sanitizers/native-tests.ts';
import { findPlantedInNode, runNodeTests } from '../sanitizers/node-tests.ts';

const shortMutations = 3;
const longMutations = 100;

export async function run({ long, count }: Options): Promise<readonly Row[]> {
  installPackages(['clang', 'libclang-rt-14-dev']);
  const mutations = count ?? (long ? longMutations : shortMutations);
  const targets = ['undertone_tests', 'undertone_planted'];
  const folder = buildNative(checked.folder, checked.settings, targets);
  const rows = [
    ...runNativeTests(folder, 'address,undefined', mutations),
    findPlanted(folder, 'address'),
    findPlanted(folder, 'undefined'),
  ];
  if (!long) return rows;
  const threads = buildNative(
    'threads',
    { ...checked.compiler, SANITIZE: 'thread', UNDERTONE_TESTS: 'ON' },
    targets,
  );
  return [
    ...rows,
    ...runNativeTests(threads, 'thread', shortMutations),
    findPlanted(threads, 'thread'),
    ...runNodeTests(),
    findPlantedInNode(),
  ];
}
