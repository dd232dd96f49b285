/** Tables as text: for a terminal, and in Markdown. */

export function printTable(lines: readonly (readonly string[])[]): void {
  const widths =
    lines[0]?.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0))) ?? [];
  for (const line of lines) {
    const cells = line.map((cell, column) => cell.padEnd(widths[column] ?? 0));
    console.log(cells.join('  ').trimEnd());
  }
}

export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n');
}
