/** The figures of the cards, measured again on labelled recordings by training/evaluate. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import type { Manifest } from '../models/manifest.ts';
import { ConfigError } from '../runtime/config.ts';
import { evaluateProgram } from '../runtime/paths.ts';

/** Figures may differ from those of the card by this much. */
export const figureTolerance = 0.01;

const measuredSchema = z.array(
  z.looseObject({ signal: z.string(), figure: z.string(), group: z.string(), value: z.number() }),
);

export type Environment = Readonly<Record<string, string | undefined>>;

export type FigureRow = {
  readonly model: string;
  readonly figure: string;
  readonly group: string;
  /** Of the card. */
  readonly expected: number;
  readonly got: number;
  readonly difference: number;
};

/** @throws ConfigError without training/evaluate or index.csv */
export async function measureFigures(options: {
  readonly modelsDir: string;
  readonly data: string;
  readonly manifests: readonly Manifest[];
  readonly env: Environment;
}): Promise<FigureRow[]> {
  await requireFile(evaluateProgram, 'a checkout of the project, which has training/evaluate,');
  await requireFile(join(options.data, 'index.csv'), 'a folder with index.csv');
  const folder = await mkdtemp(join(tmpdir(), 'undertone-audit-'));
  try {
    const file = join(folder, 'figures.json');
    await run(['--models', options.modelsDir, '--figures', file], {
      ...options.env,
      UNDERTONE_DATA: options.data,
    });
    const measured = measuredSchema.parse(JSON.parse(await readFile(file, 'utf8')));
    return compareFigures(options.manifests, measured);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Rows for the figures that both have, in the order of the cards. */
export function compareFigures(
  manifests: readonly Pick<Manifest, 'name' | 'evidence'>[],
  measured: z.infer<typeof measuredSchema>,
): FigureRow[] {
  const keyOf = (...names: readonly string[]) => JSON.stringify(names);
  const values = new Map(
    measured.map(({ signal, figure, group, value }) => [keyOf(signal, figure, group), value]),
  );
  return manifests.flatMap(({ name, evidence }) =>
    evidence.figures.flatMap(({ figure, group, value: expected }) => {
      const got = values.get(keyOf(name, figure, group));
      if (got === undefined) return [];
      return [{ model: name, figure, group, expected, got, difference: Math.abs(got - expected) }];
    }),
  );
}

async function requireFile(path: string, expected: string): Promise<void> {
  await access(path).catch(() => {
    throw new ConfigError([`Expected ${expected} for \`--data\`, got no ${path}`]);
  });
}

/** Its progress goes to standard error. */
async function run(args: readonly string[], env: Environment): Promise<void> {
  const child = spawn(evaluateProgram, args, { env, stdio: ['ignore', process.stderr, process.stderr] });
  const [code] = await once(child, 'exit');
  if (code !== 0) throw new Error(`training/evaluate ended with ${code}`);
}
