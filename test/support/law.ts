/** The rules of the tree, as functions from a file to the sentences that it breaks. */

import { posix } from 'node:path';
import ts from 'typescript';

export type SourceFile = { readonly path: string; readonly text: string };
export type Rule = (file: SourceFile) => readonly string[];

type Home = { readonly what: RegExp; readonly homes: RegExp };

const packageHomes: readonly Home[] = [
  { what: /^onnxruntime-/, homes: /^src\/models\/session\.ts$/ },
  { what: /^(koa|koa-.*|@koa\/.*)$/, homes: /^src\/http\// },
  { what: /^better-auth(\/|$)/, homes: /^src\/auth\/users\.ts$/ },
  { what: /^libsql$/, homes: /^src\/db\/sqlite\.ts$/ },
  { what: /^pg$/, homes: /^src\/db\/postgres\.ts$/ },
  { what: /^rate-limiter-flexible$/, homes: /^src\/auth\/((shared-)?rate-limiter|login-throttle)\.ts$/ },
  { what: /^kysely$/, homes: /^src\/(auth|db)\// },
  { what: /^ioredis$/, homes: /^src\/runtime\/redis\.ts$/ },
  { what: /^bullmq$/, homes: /^src\/jobs\// },
  { what: /\.node$/, homes: /^src\/audio\/addon\.ts$/ },
];

const includeHomes: readonly Home[] = [
  { what: /^(napi|node_api|js_native_api)\b/, homes: /^native\/addon\// },
  { what: /kiss_fft/, homes: /^native\/core\/dsp\/fft\w*\.\w+$/ },
  { what: /^lib(av|sw)\w+\//, homes: /^native\/core\/decode\// },
];

const mainFiles = /^src\/(serve|cli)\.ts$/;
const maxLines = 400;

const isTypeScript = (path: string): boolean => /\.ts$/.test(path);
const isShipped = (path: string): boolean => path.startsWith('src/') && isTypeScript(path);
const isNative = (path: string): boolean => /^native\/.*\.(h|cc|c)$/.test(path);

function nodesOf({ path, text }: SourceFile): ts.Node[] {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return nodes;
}

/** Every string in the file that names a module: imports, exports, `import()`, `require()`, and any that ends in .node. */
function modulesOf(file: SourceFile): string[] {
  return nodesOf(file).flatMap((node) => {
    if (!ts.isStringLiteralLike(node)) return [];
    const parent = node.parent;
    const names =
      ts.isImportDeclaration(parent) ||
      ts.isExportDeclaration(parent) ||
      ts.isExternalModuleReference(parent) ||
      (ts.isLiteralTypeNode(parent) && ts.isImportTypeNode(parent.parent)) ||
      ts.isCallExpression(parent);
    return names || node.text.endsWith('.node') ? [node.text] : [];
  });
}

function misplaced(path: string, names: readonly string[], homes: readonly Home[]): string[] {
  return names.flatMap((name) =>
    homes
      .filter((home) => home.what.test(name) && !home.homes.test(path))
      .map(() => `${path}: ${name} may not be imported here`),
  );
}

export const packageLaw: Rule = (file) =>
  isShipped(file.path) ? misplaced(file.path, modulesOf(file), packageHomes) : [];

export const includeLaw: Rule = ({ path, text }) => {
  if (!isNative(path)) return [];
  const names = [...text.matchAll(/^\s*#\s*include\s*[<"]([^>"]+)[>"]/gm)].map((match) => match[1] ?? '');
  return misplaced(path, names, includeHomes);
};

/** Signals are pure: they import from their own folder alone, types too. */
/** Other rules, the analysis around them, schemas, and the two functions of the addon and the runtime that they call. */
const signalImports = /^(\.\.?\/[^/]+|zod|\.\.\/\.\.\/(audio\/addon|models\/session)\.ts)$/;

export const signalsLaw: Rule = (file) => {
  if (!/^src\/analysis\/signals\//.test(file.path)) return [];
  return nodesOf(file)
    .filter((node) => ts.isImportDeclaration(node) || ts.isExportDeclaration(node))
    .flatMap((node) => {
      const from = node.moduleSpecifier;
      if (!from || !ts.isStringLiteral(from) || signalImports.test(from.text)) return [];
      return [`${file.path}: signals may not import ${from.text}`];
    });
};

/** Slow to load, and of no use to a service that only analyses: loaded when somebody first comes to their account. */
const lateModules =
  /(^|\/)((users|create-account|login-throttle|rate-limiter|shared-rate-limiter|sqlite|postgres|redis)\.ts$|jobs\/)/;
const late =
  /^src\/(auth\/(users|create-account|login-throttle|rate-limiter|shared-rate-limiter)\.ts|db\/(sqlite|postgres)\.ts|runtime\/redis\.ts|jobs\/)/;

export const lateLaw: Rule = (file) => {
  if (!isShipped(file.path) || late.test(file.path)) return [];
  return nodesOf(file).flatMap((node) => {
    if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) return [];
    const name = node.moduleSpecifier.text;
    const typeOnly = node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword;
    if (typeOnly || !lateModules.test(name)) return [];
    return [`${file.path}: ${name} may only be imported when it is needed`];
  });
};

/** What runs in browsers: plot libraries, and nothing of the service but its types. */
const webPackages = /^(wavesurfer\.js|uplot)(\/|$)/;

export const webLaw: Rule = (file) => {
  if (!/^web\/.+\/.*\.ts$/.test(file.path)) return [];
  const allowed = (name: string, typeOnly: boolean): boolean => {
    if (!name.startsWith('.')) return webPackages.test(name);
    const target = posix.join(posix.dirname(file.path), name);
    return /^web\/|^examples\//.test(target) || (typeOnly && target.startsWith('src/'));
  };
  return importsOf(file)
    .filter(({ name, typeOnly }) => !allowed(name, typeOnly))
    .map(({ name }) => `${file.path}: ${name} may not be imported by pages`);
};

type Import = { readonly name: string; readonly typeOnly: boolean };

function importsOf(file: SourceFile): Import[] {
  return nodesOf(file).flatMap((node) => {
    if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
      return [{ name: node.arguments[0]?.getText().slice(1, -1) ?? '', typeOnly: false }];
    }
    if (!ts.isImportDeclaration(node) && !ts.isExportDeclaration(node)) return [];
    const from = node.moduleSpecifier;
    if (from === undefined || !ts.isStringLiteral(from)) return [];
    const typeOnly = /^(import|export)\s+type\b/.test(node.getText());
    return [{ name: from.text, typeOnly }];
  });
}

/** The client depends on nothing: a stranger's browser has neither our sources nor our packages. */
export const clientLaw: Rule = (file) => {
  if (!/^clients\/typescript\/src\//.test(file.path)) return [];
  return importsOf(file)
    .filter(({ name }) => !/^(\.\/[^/]+|node:.+)$/.test(name))
    .map(({ name }) => `${file.path}: the client may not import ${name}`);
};

function isProcess(node: ts.Node): boolean {
  if (ts.isIdentifier(node)) return node.text === 'process';
  return ts.isPropertyAccessExpression(node) && node.name.text === 'process';
}

function readsEnvironment(node: ts.Node): boolean {
  const guarded = (name: string): boolean => name === 'env' || name === 'exit';
  if (ts.isPropertyAccessExpression(node)) return isProcess(node.expression) && guarded(node.name.text);
  if (ts.isElementAccessExpression(node)) return isProcess(node.expression);
  if (ts.isBindingElement(node)) {
    const from = node.parent.parent;
    return ts.isVariableDeclaration(from) && from.initializer !== undefined && isProcess(from.initializer);
  }
  return ts.isImportDeclaration(node) && /^['"](node:)?process['"]$/.test(node.moduleSpecifier.getText());
}

export const processLaw: Rule = (file) => {
  if (!isShipped(file.path) || mainFiles.test(file.path)) return [];
  return nodesOf(file)
    .filter(readsEnvironment)
    .map((node) => `${file.path}: \`${node.getText()}\` belongs to src/serve.ts and src/cli.ts`);
};

export const anyLaw: Rule = (file) =>
  isTypeScript(file.path) && nodesOf(file).some((node) => node.kind === ts.SyntaxKind.AnyKeyword)
    ? [`${file.path}: has the type any`]
    : [];

export const defaultExportLaw: Rule = (file) => {
  if (!isShipped(file.path)) return [];
  const isDefault = (node: ts.Node): boolean =>
    ts.isExportAssignment(node) ||
    node.kind === ts.SyntaxKind.DefaultKeyword ||
    (ts.isExportSpecifier(node) && node.name.text === 'default');
  return nodesOf(file).some(isDefault) ? [`${file.path}: has a default export`] : [];
};

export const lengthLaw: Rule = ({ path, text }) => {
  if (/^(\/\*\*\n \* This file was auto-generated|# generated by )/.test(text)) return [];
  const lines = text.split('\n').length - 1;
  return lines > maxLines ? [`${path}: Expected at most ${maxLines} lines, got ${lines}`] : [];
};

export const nameLaw: Rule = ({ path }) => {
  const name = path.split('/').at(-1) ?? '';
  if (/(^|\/)(utils?|helpers?|common|misc)(\/|\.|$)/.test(path))
    return [`${path}: says nothing about its content`];
  if (isTypeScript(path) && !/^[a-z0-9]+(-[a-z0-9]+)*(\.(test|d|config))?\.ts$/.test(name)) {
    return [`${path}: Expected a kebab-case name`];
  }
  if (isNative(path) && !/^[a-z0-9]+(_[a-z0-9]+)*\.\w+$/.test(name))
    return [`${path}: Expected a snake_case name`];
  return [];
};

export const rules: readonly Rule[] = [
  packageLaw,
  includeLaw,
  signalsLaw,
  clientLaw,
  webLaw,
  lateLaw,
  processLaw,
  anyLaw,
  defaultExportLaw,
  lengthLaw,
  nameLaw,
];
