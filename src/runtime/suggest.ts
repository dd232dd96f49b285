/** Spelling suggestions. */

const maxDistance = 3;

/** The closest name within three edits, fewer than half of `text`, or the first that begins with `text`; null if none does. */
export function suggest(text: string, names: readonly string[]): string | null {
  const [closest] = names
    .map((name) => ({ name, distance: editDistance(text, name) }))
    .filter(({ distance }) => distance <= maxDistance && distance < text.length / 2)
    .sort((a, b) => a.distance - b.distance);
  return closest?.name ?? names.find((name) => text !== '' && name.startsWith(text)) ?? null;
}

/** Levenshtein distance. */
function editDistance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (const [index, character] of [...from].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= to.length; column++) {
      const substitution = (row[column - 1] ?? 0) + (character === to[column - 1] ? 0 : 1);
      next.push(Math.min(substitution, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
