/** Files of TypeScript or C++ with one small fault each, which a test should notice. */

export type Mutant = {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly before: string;
  readonly after: string;
  /** The whole file. */
  readonly text: string;
};

/** Operators between spaces, as Biome and clang-format write them, and numbers. */
const rules: readonly (readonly [pattern: RegExp, after: (found: string) => string])[] = [
  [/(?<= )(<=|>=|<|>)(?= )/g, (found) => (found.endsWith('=') ? found.slice(0, -1) : `${found}=`)],
  [/(?<= )[=!]==?(?= )/g, (found) => (found.startsWith('=') ? `!${found.slice(1)}` : `=${found.slice(1)}`)],
  [/(?<=[\w)\]] )[+-](?= )/g, (found) => (found === '+' ? '-' : '+')],
  [/(?<=[\w)\]] )[*/](?= )/g, (found) => (found === '*' ? '/' : '*')],
  [/(?<= )(&&|\|\|)(?= )/g, (found) => (found === '&&' ? '||' : '&&')],
  [/(?<![\w.])\d+(\.\d+)?(?![\w.])/g, (found) => (Number(found) === 0 ? '1' : `(${found} + 1)`)],
  [/\b(true|false)\b/g, (found) => (found === 'true' ? 'false' : 'true')],
  [/(?<=\b(if|while) \()(?=\w)/g, () => '!'],
];
const noCode = /^\s*(\/\/|\/?\*|#|(template|using|import|(export )?type|readonly)\b)/;

/** Every mutant of a file, by its lines of code: comments, texts and types have none. */
export function mutantsOf(file: string, source: string): Mutant[] {
  const mutants: Mutant[] = [];
  let lineStart = 0;
  for (const [index, line] of source.split('\n').entries()) {
    const code = noCode.test(line) ? '' : line.replace(/\/\/.*|"[^"]*"|'[^']*'|`[^`]*`/g, blank);
    for (const [pattern, change] of rules)
      for (const { 0: before, index: column } of code.matchAll(pattern)) {
        const after = change(before);
        const start = lineStart + column;
        const text = source.slice(0, start) + after + source.slice(start + before.length);
        mutants.push({ file, line: index + 1, before, after, text });
      }
    lineStart += line.length + 1;
  }
  return mutants;
}

const blank = (text: string): string => ' '.repeat(text.length);
