/** What a person who misspelt a name may have meant. */

/** The nearest of `names` that is at most two insertions, deletions or replacements away, or null. */
export const findNearName = (text: string, names: readonly string[]): string | null => {
  const near = names
    .map((name) => ({ name, edits: countEdits(text, name) }))
    .filter(({ edits }) => edits <= 2)
    .sort((left, right) => left.edits - right.edits);
  return near[0]?.name ?? null;
};

/** Levenshtein's distance: row by row, what turning the first i characters of `from` into those of `to` takes. */
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
