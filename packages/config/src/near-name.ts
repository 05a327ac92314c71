/** Suggestions for misspelt names. */

/** The nearest of `names` by edit distance, at most 2, or null. */
export const findNearName = (text: string, names: readonly string[]): string | null => {
  const near = names
    .map((name) => ({ name, edits: countEdits(text, name) }))
    .filter(({ edits }) => edits <= 2)
    .sort((left, right) => left.edits - right.edits);
  return near[0]?.name ?? null;
};

/** Levenshtein distance, row by row over the first i characters of `from`. */
const countEdits = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, j) => j);
  for (let i = 1; i <= from.length; i++) {
    const next = [i];
    for (let j = 1; j <= to.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, replaced));
    }
    row = next;
  }
  return row[to.length] ?? 0;
};
