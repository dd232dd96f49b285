/** Which file may import what. Type-only imports are free unless a rule says otherwise. */
import { posix } from 'node:path';
import ts from 'typescript';

export type SourceFile = { readonly path: string; readonly text: string };

type Import = {
  readonly from: string;
  /** A path from the root of the repository, or the name of a package. */
  readonly target: string;
  readonly kind: 'static' | 'dynamic' | 'type';
};

/** Modules that only some files import. */
const homes: readonly (readonly [target: RegExp, homes: RegExp])[] = [
  [/^onnxruntime-/, /^src\/node\/onnx\.ts$/],
  [/^(koa|koa-.*|@koa\/.*)$/, /^src\/service\/http\//],
  [/^better-auth(\/|$)/, /^src\/service\/auth\/users\.ts$/],
  [/^libsql$/, /^src\/service\/(sqlite|jobs\/result-thread)\.ts$/],
  [/^pg$/, /^src\/service\/postgres\.ts$/],
  [/^rate-limiter-flexible$/, /^src\/service\/auth\/rate-limits\.ts$/],
  [/^kysely$/, /^src\/service\/(auth\/\w|database|migrations|sqlite|postgres)/],
  [/^ioredis$/, /^src\/service\/redis\.ts$/],
  [/^ws$/, /^src\/(service\/http\/|tools\/speed\.ts)/],
  [/^bullmq$/, /^src\/service\/jobs\//],
  [/\.node$/, /^src\/node\/paths\.ts$/],
];

/** Files and folders that the service loads on first use. */
export const lazy = [
  'worker.ts',
  'auth/users.ts',
  'auth/login-throttle.ts',
  'auth/rate-limits.ts',
  'sqlite.ts',
  'postgres.ts',
  'redis.ts',
  'traces.ts',
  'log.ts',
  'jobs/',
].map((name) => `src/service/${name}`);

const isLazy = (path: string): boolean => lazy.some((prefix) => path.startsWith(prefix));

/** Each storey imports its own files and those of the storeys below it. */
const storeys: Readonly<Record<string, readonly string[]>> = {
  engine: ['engine'],
  node: ['node', 'engine'],
  service: ['service', 'node', 'engine'],
  tools: ['tools', 'service', 'node', 'engine'],
};

/** What other storeys import of a storey. Every file of node is one: it adapts one thing of the machine. */
const entries: Readonly<Record<string, RegExp>> = {
  engine: /^src\/engine\/(index|schema|platform)\.ts$/,
  node: /^src\/node\//,
  service:
    /^src\/service\/(admin|checks|compose-receipt|config|errors|form|html|interval-picture|network|receipt-keys|segments|serve|sha256|start-failures|suggest|verify-receipt|worker|api\/document|live\/local|workers\/(protocol|threads))\.ts$/,
};

const storeyOf = (path: string): string | undefined => /^src\/(\w+)\//.exec(path)?.[1];

const isAllowed: readonly ((each: Import) => boolean)[] = [
  ({ from, target }) => from.startsWith('test/') || !target.startsWith('test/'),
  ({ from, target }) =>
    !from.startsWith('src/') || homes.every(([module, home]) => !module.test(target) || home.test(from)),
  ({ from, target, kind }) =>
    !from.startsWith('src/') || kind !== 'static' || !isLazy(target) || isLazy(from),
  ({ from, target }) => {
    const [above, below] = [storeyOf(from), storeyOf(target)];
    if (above === undefined || below === undefined || above === below) return true;
    return storeys[above]?.includes(below) === true && entries[below]?.test(target) === true;
  },
  // The engine runs anywhere: what it needs of the machine is in platform.ts.
  ({ from, target }) => storeyOf(from) !== 'engine' || storeyOf(target) === 'engine' || target === 'zod',
  ({ from, target }) => !from.startsWith('src/service/api/') || !target.startsWith('src/service/http/'),
  ({ from, target }) =>
    !from.startsWith('clients/typescript/src/') || /^(clients\/typescript\/src\/|node:)/.test(target),
  ({ from, target, kind }) =>
    !/^web\/.+\/.*\.ts$/.test(from) ||
    /^(web\/|examples\/|wavesurfer\.js(\/|$))/.test(target) ||
    // The page has the words of warnings and scores, and the annotations of the command: these files import no code.
    ['src/engine/warnings.ts', 'src/engine/signals/score-ends.ts', 'src/tools/annotations.ts'].includes(
      target,
    ) ||
    (kind === 'type' && target.startsWith('src/')),
];

/** Returns one sentence for each import that breaks a rule. */
export function wrongImports(file: SourceFile): string[] {
  const wrong = importsOf(file).filter((each) => isAllowed.some((rule) => !rule(each)));
  return [
    ...new Set(wrong.map(({ target, kind }) => `${file.path}: Expected no ${kind} import of ${target}`)),
  ];
}

/** Circles of files, types counted: each as the files in it, sorted. */
export function circlesOf(files: readonly SourceFile[]): string[][] {
  const paths = new Set(files.map(({ path }) => path));
  const targets = new Map(
    files.map((file) => [
      file.path,
      importsOf(file).flatMap(({ target }) => (paths.has(target) ? [target] : [])),
    ]),
  );
  const reached = new Map([...paths].map((path) => [path, reachable(path, targets)]));
  const circles = [...paths].map((path) =>
    [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort(),
  );
  return [...new Map(circles.filter((each) => each.length > 0).map((each) => [each.join(), each])).values()];
}

function reachable(from: string, targets: ReadonlyMap<string, readonly string[]>): Set<string> {
  const found = new Set<string>();
  const open = [from];
  for (let path = open.pop(); path !== undefined; path = open.pop()) {
    const next = (targets.get(path) ?? []).filter((target) => !found.has(target));
    for (const target of next) found.add(target);
    open.push(...next);
  }
  return found;
}

function importsOf({ path, text }: SourceFile): Import[] {
  const found: Import[] = [];
  const add = (module: string, kind: Import['kind']) => {
    const isRelative = module.startsWith('.');
    const target = isRelative ? posix.join(posix.dirname(path), module) : module;
    found.push({ from: path, target, kind });
  };
  const visit = (node: ts.Node): void => {
    if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
      const typeOnly = /^(import|export)\s+type\b/.test(node.getText());
      add((node.moduleSpecifier as ts.StringLiteral).text, typeOnly ? 'type' : 'static');
    } else if (ts.isCallExpression(node) && node.arguments[0] && ts.isStringLiteralLike(node.arguments[0])) {
      if (node.expression.kind === ts.SyntaxKind.ImportKeyword) add(node.arguments[0].text, 'dynamic');
      else if (/^require\b/.test(node.expression.getText())) add(node.arguments[0].text, 'static');
    } else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
      add((node.argument.literal as ts.StringLiteral).text, 'type');
    } else if (ts.isStringLiteralLike(node) && node.text.endsWith('.node')) add(node.text, 'static');
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** C and C++ headers that only some files include. */
const includeHomes: readonly (readonly [header: RegExp, homes: RegExp])[] = [
  [/^(napi|node_api|js_native_api)\b/, /^native\/(addon|process)\//],
  [/kiss_fft/, /^native\/core\/dsp\/fft\w*\.\w+$/],
  [/^lib(av|sw)\w+\//, /^native\/core\/decode\//],
];

/** Returns one sentence for each `#include` that breaks a rule. */
export function wrongIncludes({ path, text }: SourceFile): string[] {
  const headers = [...text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm)].map((match) => match[1] ?? '');
  return headers
    .filter((header) => includeHomes.some(([module, home]) => module.test(header) && !home.test(path)))
    .map((header) => `${path}: Expected no include of ${header}`);
}
