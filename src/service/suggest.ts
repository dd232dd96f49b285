/** The name that a misspelt one most likely means: of a setting, a path, a part of a form, a column. */

const maxDistance = 3;

/** The closest name within three edits, one for each third character of `text`, or the first that begins with `text`; null if none does. */
export function suggest(text: string, names: readonly string[]): string | null {
  // Each character of difference in length is an edit.
  const [closest] = names
    .filter((name) => Math.abs(name.length - text.length) <= maxDistance)
    .map((name) => ({ name, distance: editDistance(text, name) }))
    .filter(({ distance }) => distance <= Math.min(maxDistance, text.length / 3))
    .sort((a, b) => a.distance - b.distance);
  return closest?.name ?? names.find((name) => text !== '' && name.startsWith(text)) ?? null;
}

/** Levenshtein distance, in which two characters that changed places are one edit. */
function editDistance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const substitution = (row[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1);
      const swapped = character === to[column - 2] && from[index - 1] === to[column - 1];
      const swap = swapped ? (before[column - 2] ?? 0) + 1 : substitution;
      next.push(Math.min(substitution, swap, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return row[to.length] ?? 0;
}
