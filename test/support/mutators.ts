/** Mutants: files with one small change each, which a test should notice. */
import ts from 'typescript';

export type Mutant = {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The line where the innermost function around it begins; null for code outside of functions. */
  readonly functionLine: number | null;
  readonly before: string;
  readonly after: string;
  /** The whole file. */
  readonly text: string;
};

/** A change of `start` to `end`. */
type Edit = { readonly start: number; readonly end: number; readonly after: string };
type Rule = (node: ts.Node, text: (node: ts.Node) => string) => string | null;

const operators: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
]);

const isText = (node: ts.Node): boolean =>
  ts.isStringLiteralLike(node) ||
  ts.isTemplateExpression(node) ||
  (ts.isBinaryExpression(node) && (isText(node.left) || isText(node.right)));

const rules: readonly Rule[] = [
  (node, text) => {
    const { parent } = node;
    const isCondition =
      ((ts.isIfStatement(parent) || ts.isWhileStatement(parent)) && parent.expression === node) ||
      (ts.isConditionalExpression(parent) && parent.condition === node);
    return isCondition ? `!(${text(node)})` : null;
  },
  (node, text) => {
    if (!ts.isBinaryExpression(node) || isText(node)) return null;
    const operator = operators.get(node.operatorToken.kind);
    return operator === undefined ? null : `${text(node.left)} ${operator} ${text(node.right)}`;
  },
  (node, text) => {
    if (!ts.isNumericLiteral(node) || ts.isLiteralTypeNode(node.parent)) return null;
    return Number(node.text) === 0 ? '1' : `(${text(node)} + 1)`;
  },
  (node) => {
    if (ts.isLiteralTypeNode(node.parent)) return null;
    if (node.kind === ts.SyntaxKind.TrueKeyword) return 'false';
    return node.kind === ts.SyntaxKind.FalseKeyword ? 'true' : null;
  },
  (node) => (ts.isExpressionStatement(node) && !ts.isSourceFile(node.parent) ? ';' : null),
  (node, text) => {
    if (!ts.isBlock(node) || node.statements.length < 2) return null;
    const isBody = ts.isFunctionLike(node.parent) && !ts.isConstructorDeclaration(node.parent);
    return isBody ? `{ return;${text(node).slice(1)}` : null;
  },
];

/** Every mutant of a TypeScript file. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const tree = ts.createSourceFile(file, source, ts.ScriptTarget.Latest, true);
  const lineOf = (at: number) => tree.getLineAndCharacterOfPosition(at).line + 1;
  const text = (node: ts.Node) => node.getText(tree);
  const mutants: Mutant[] = [];
  const visit = (node: ts.Node, functionLine: number | null): void => {
    if (ts.isTypeNode(node) || ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node)) return;
    const [start, end] = [node.getStart(tree), node.getEnd()];
    const inner = ts.isFunctionLike(node) ? lineOf(start) : functionLine;
    for (const rule of node.parent === undefined ? [] : rules) {
      const after = rule(node, text);
      if (after === null) continue;
      mutants.push({
        file,
        line: lineOf(start),
        functionLine: inner,
        ...edit(source, { start, end, after }),
      });
    }
    ts.forEachChild(node, (child) => visit(child, inner));
  };
  visit(tree, null);
  return mutants;
}

function edit(source: string, { start, end, after }: Edit): Pick<Mutant, 'before' | 'after' | 'text'> {
  const text = source.slice(0, start) + after + source.slice(end);
  return { before: source.slice(start, end), after, text };
}

/** Operators between spaces, as clang-format writes them, and numbers. */
const nativeRules: readonly (readonly [pattern: RegExp, after: (found: string) => string])[] = [
  [/(?<= )(<=|>=|<|>)(?= )/g, (found) => (found.endsWith('=') ? found.slice(0, -1) : `${found}=`)],
  [/(?<= )(==|!=)(?= )/g, (found) => (found === '==' ? '!=' : '==')],
  [/(?<=[\w)\]] )[+-](?= )/g, (found) => (found === '+' ? '-' : '+')],
  [/(?<=[\w)\]] )[*/](?= )/g, (found) => (found === '*' ? '/' : '*')],
  [/(?<= )(&&|\|\|)(?= )/g, (found) => (found === '&&' ? '||' : '&&')],
  [/(?<![\w.])\d+(\.\d+)?(?![\w.])/g, (found) => (Number(found) === 0 ? '1' : `(${found} + 1)`)],
  [/\b(true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
];

/** Every mutant of a C++ file, by its lines of code. */
export function nativeMutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  let lineStart = 0;
  for (const [index, line] of source.split('\n').entries()) {
    const code = /^\s*(\/\/|#|\*|template|using)/.test(line) ? '' : line.replace(/\/\/.*|"[^"]*"/g, blank);
    for (const [pattern, change] of nativeRules)
      for (const { 0: found, index: column } of code.matchAll(pattern)) {
        const start = lineStart + column;
        const changed = edit(source, { start, end: start + found.length, after: change(found) });
        mutants.push({ file, line: index + 1, functionLine: null, ...changed });
      }
    lineStart += line.length + 1;
  }
  return mutants;
}

const blank = (text: string): string => ' '.repeat(text.length);

/** The change in one short line. */
export function describe({ file, line, before, after }: Mutant): string {
  const short = (text: string) => {
    const joined = text.replaceAll(/\s+/g, ' ');
    return joined.length > 60 ? `${joined.slice(0, 57)}...` : joined;
  };
  return `${file}:${line}: ${short(before)} -> ${short(after)}`;
}
