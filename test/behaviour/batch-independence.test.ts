/** The report of a recording does not depend on other recordings. */
import { join } from 'node:path';
import test from 'ava';
import { fixture, fixturesFolder } from '../../scripts/recordings.ts';
import { reporter } from '../support/analysis.ts';
import { runCli } from '../support/cli.ts';

const files = ['mono-16k.wav', 'cbr.mp3', 'opus.webm'];

const linesOf = async (names: readonly string[], jobs: number): Promise<string[]> => {
  const paths = names.map((name) => join(fixturesFolder(), name));
  const { code, stdout, stderr } = await runCli(['analyze', '--jsonl', '--jobs', String(jobs), ...paths]);
  if (code !== 0) throw new Error(stderr);
  return stdout.trim().split('\n');
};

test('several files in one call, two at a time: each report is that of the file alone', async (t) => {
  const alone: string[] = [];
  for (const name of files) alone.push(...(await linesOf([name], 1)));
  const [first, second, third] = alone as [string, string, string];
  t.is(new Set(alone).size, files.length);
  t.deepEqual(await linesOf([...files, files[0] as string], 2), [first, second, third, first]);
});

test('one analyzer, several recordings: each report is that of a new analyzer', async (t) => {
  const shared = await reporter();
  for (const name of [...files, ...files.toReversed()]) {
    const fresh = await reporter();
    t.deepEqual(await shared(fixture(name)), await fresh(fixture(name)), name);
  }
});
