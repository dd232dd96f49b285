/**
 * Classifiers of every architecture that `undertone models add` names, with random weights and small, exported as Optimum
 * does: the logits of the added sets against those of `transformers` on the same samples.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { cacheFolder, figure, type Row, root, runProgram, withinLimit } from '../case.ts';
import { classifierPython } from '../peers/stack.ts';
import { addModel, buildService } from '../service.ts';

const script = join(root, 'benchmarks', 'peers', 'exports.py');
const recording = join(root, 'examples', 'sample.wav');
const largest = 1e-3;

export async function run(): Promise<readonly Row[]> {
  buildService();
  const folder = cacheFolder('peers/exports');
  const python = (command: string) => runProgram(classifierPython(), [script, command, folder, recording]);
  rmSync(folder, { recursive: true });
  const names: readonly string[] = JSON.parse(python('export').trim().split('\n').at(-1) ?? '');
  for (const name of names) addModel(join(folder, name));
  const differences: Readonly<Record<string, number>> = JSON.parse(python('compare'));
  return names.map((name) =>
    withinLimit(
      largest,
      `largest difference of logits, ${name}`,
      '',
      figure([differences[name] as number]),
      '8 s of speech',
    ),
  );
}
