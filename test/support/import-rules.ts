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
  [/^onnxruntime-/, /^src\/models\/session\.ts$/],
  [/^(koa|koa-.*|@koa\/.*)$/, /^src\/http\//],
  [/^better-auth(\/|$)/, /^src\/auth\/users\.ts$/],
  [/^libsql$/, /^src\/db\/sqlite\.ts$/],
  [/^pg$/, /^src\/db\/postgres\.ts$/],
  [/^rate-limiter-flexible$/, /^src\/auth\/((shared-)?rate-limiter|login-throttle)\.ts$/],
  [/^kysely$/, /^src\/(auth|db)\//],
  [/^ioredis$/, /^src\/runtime\/redis\.ts$/],
  [/^ws$/, /^src\/http\//],
  [/^bullmq$/, /^src\/jobs\//],
  [/\.node$/, /^src\/runtime\/paths\.ts$/],
];

/** Modules that the service loads on first use. */
const lazy =
  /^src\/(auth\/(users|create-account|login-throttle|rate-limiter|shared-rate-limiter)\.ts|db\/(sqlite|postgres)\.ts|runtime\/redis\.ts|jobs\/)/;

const isAllowed: readonly ((each: Import) => boolean)[] = [
  ({ from, target }) => from.startsWith('test/') || !target.startsWith('test/'),
  ({ from, target }) =>
    !from.startsWith('src/') || homes.every(([module, home]) => !module.test(target) || home.test(from)),
  ({ from, target, kind }) =>
    !from.startsWith('src/') || kind !== 'static' || !lazy.test(target) || lazy.test(from),
  ({ from, target }) =>
    !from.startsWith('src/analysis/signals/') ||
    /^(src\/analysis\/|src\/audio\/addon\.ts$|src\/models\/session\.ts$|zod$)/.test(target),
  ({ from, target }) => !from.startsWith('src/openapi/') || !target.startsWith('src/http/'),
  ({ from, target }) =>
    !from.startsWith('clients/typescript/src/') || /^(clients\/typescript\/src\/|node:)/.test(target),
  ({ from, target, kind }) =>
    !/^web\/.+\/.*\.ts$/.test(from) ||
    /^(web\/|examples\/|(wavesurfer\.js|uplot)(\/|$))/.test(target) ||
    (kind === 'type' && target.startsWith('src/')),
];

/** Returns one sentence for each import that breaks a rule. */
export function wrongImports(file: SourceFile): string[] {
  const wrong = importsOf(file).filter((each) => isAllowed.some((rule) => !rule(each)));
  return [
    ...new Set(wrong.map(({ target, kind }) => `${file.path}: Expected no ${kind} import of ${target}`)),
  ];
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
    } else if (ts.isStringLiteralLike(node) && node.text.endsWith('.node')) add(node.text, 'static');
    ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true));
  return found;
}

/** C and C++ headers that only some files include. */
const includeHomes: readonly (readonly [header: RegExp, homes: RegExp])[] = [
  [/^(napi|node_api|js_native_api)\b/, /^native\/addon\//],
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
