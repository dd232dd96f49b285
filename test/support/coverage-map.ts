/** The functions of src that each test file runs, from V8's coverage of it and of the processes that it starts. */
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from './folder.ts';
import type { Mutant } from './mutators.ts';
import type { ScratchTree } from './scratch-tree.ts';

type Reach = {
  readonly ms: number;
  /** By file of src: the lines where the functions begin that it runs; 0 is the module itself. */
  readonly lines: Readonly<Record<string, readonly number[]>>;
};
export type CoverageMap = Readonly<Record<string, Reach>>;

const mapFile = 'build/coverage-map.json';
const limitMs = 600_000;
/** Max total time of the tests of one mutant, as measured with coverage. */
const budgetMs = 90_000;

export const readCoverageMap = (): CoverageMap =>
  existsSync(mapFile) ? JSON.parse(readFileSync(mapFile, 'utf8')) : {};

/** Records test files, one at a time; what is known of others stays. */
export async function recordCoverage(tree: ScratchTree, files: readonly string[]): Promise<void> {
  for (const file of files) {
    const folder = makeFolder();
    const { status, ms } = await tree.test([file], limitMs, { NODE_V8_COVERAGE: folder });
    const reach = status === 0 ? { ms, lines: readLines(folder, tree.folder) } : null;
    rmSync(folder, { recursive: true });
    console.log(`${file}: ${reach === null ? 'fails' : `${Object.keys(reach.lines).length} files`}`);
    if (reach !== null) writeFileSync(mapFile, JSON.stringify({ ...readCoverageMap(), [file]: reach }));
  }
}

type Script = {
  readonly url: string;
  readonly functions: readonly {
    readonly functionName: string;
    readonly ranges: readonly { readonly startOffset: number; readonly count: number }[];
  }[];
};
type Coverage = {
  readonly result: readonly Script[];
  readonly 'source-map-cache'?: Readonly<Record<string, Mapped>>;
};
type Mapped = { readonly lineLengths: readonly number[]; readonly data: SourceMapPayload | null };

function readLines(coverage: string, root: string): Reach['lines'] {
  const lines = new Map<string, Set<number>>();
  for (const name of readdirSync(coverage)) {
    const { result, 'source-map-cache': maps = {} } = JSON.parse(
      readFileSync(join(coverage, name), 'utf8'),
    ) as Coverage;
    for (const script of result) {
      if (!/\/(src|build\/ava)\/[^?]*\.[jt]s/.test(script.url) || !script.url.includes(root)) continue;
      for (const [file, line] of startsIn(script, root, maps[script.url]))
        if (file.startsWith('src/')) lines.set(file, (lines.get(file) ?? new Set()).add(line));
    }
  }
  const sorted = [...lines].map(([file, starts]) => [file, [...starts].sort((a, b) => a - b)] as const);
  return Object.fromEntries(sorted);
}

/** Files of src with the line where each function begins that ran. */
function* startsIn(
  { url, functions }: Script,
  root: string,
  mapped: Mapped | undefined,
): Generator<readonly [file: string, line: number]> {
  if (!mapped?.data) return;
  const map = new SourceMap(mapped.data);
  const fileOf = (source: string) => relative(root, fileURLToPath(new URL(source, url)));
  const loaded = functions[0]?.ranges[0]?.count ?? 0;
  if (loaded > 0) for (const source of mapped.data.sources) yield [fileOf(source), 0];
  for (const { ranges } of functions) {
    const [{ startOffset = 0, count = 0 } = {}] = ranges;
    if (count === 0 || startOffset === 0) continue;
    const { line, column } = positionOf(startOffset, mapped.lineLengths);
    const entry = map.findEntry(line, column);
    if ('originalSource' in entry) yield [fileOf(entry.originalSource), entry.originalLine + 1];
  }
}

function positionOf(offset: number, lengths: readonly number[]): { line: number; column: number } {
  let [line, column] = [0, offset];
  for (; column > (lengths[line] ?? Number.POSITIVE_INFINITY); line++) column -= (lengths[line] ?? 0) + 1;
  return { line, column };
}

/** Test files that run the mutant's function, within the budget; those that run most functions of its file come first. */
export function reachingTests(map: CoverageMap, { file, functionLine }: Mutant): string[] {
  const reaching = Object.entries(map)
    .map(([test, { ms, lines }]) => ({ test, ms, own: lines[file] ?? [] }))
    .filter(({ own }) => own.includes(functionLine ?? 0))
    .sort((one, other) => other.own.length - one.own.length || one.ms - other.ms);
  let left = budgetMs;
  return reaching.flatMap(({ test, ms }, index) => {
    if (index > 0 && ms > left) return [];
    left -= ms;
    return [test];
  });
}
