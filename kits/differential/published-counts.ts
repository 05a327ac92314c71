/** Compares the table in docs/testing.md, which says how many vectors each kit runs, with what ran. */

const NUMBER = /\d{1,3}(?:,\d{3})+|\d+/g;
const numbersOf = (cell: string): readonly number[] =>
  [...cell.matchAll(NUMBER)].map(([text]) => Number(text.replaceAll(',', '')));
const sorted = (numbers: readonly number[]): string => [...numbers].sort((a, b) => a - b).join(', ');

/** The counts of the kit's own tests, and the number of passed cases for each op of its conformance run. */
export interface Ran {
  readonly vectors: readonly number[];
  readonly ops: ReadonlyMap<string, number>;
}

/** Null if the page says what ran. */
export function findWrongCount(page: string, kit: string, { vectors, ops }: Ran): string | null {
  const rows = page.split('\n').map((line) => line.split('|').slice(1, -1));
  const columnIn = (row: readonly string[]): number =>
    row.findIndex((cell) => cell.trim() === `\`kits/${kit}\``);
  const head = rows.findIndex((row) => row[0]?.trim() === 'Vectors' && columnIn(row) > 0);
  const column = columnIn(rows[head] ?? []);
  if (column < 1) return `docs/testing.md has no table of vectors with a column kits/${kit}`;
  const end = rows.findIndex((row, i) => i > head && row.length === 0);
  const said: number[] = [];
  let begun = 0;
  for (const row of rows.slice(head + 2, end)) {
    const [label = '', first = ''] = row;
    const numbers = numbersOf(row[column] ?? '');
    if (label.includes('conformance run')) {
      const named = [...label.matchAll(/`([A-Za-z0-9]+)`/g)].map(([, op = '']) => ops.get(op) ?? 0);
      if (named.join() !== numbersOf(first).join()) return `${label.trim()}: ${named.join(', ')} passed`;
    } else if (label.includes('**')) {
      const sum = said.slice(begun).reduce((a, b) => a + b, 0);
      if (numbers[0] !== sum) return `${label.trim()} of kits/${kit}: the rows above come to ${sum}`;
      begun = said.length;
    } else said.push(...numbers);
  }
  return sorted(said) === sorted(vectors)
    ? null
    : `docs/testing.md says ${sorted(said)} of kits/${kit}; its tests counted ${sorted(vectors)}`;
}
