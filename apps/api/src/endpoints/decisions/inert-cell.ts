/**
 * Cells that a spreadsheet shows and never computes. What begins like a formula is given a `'` in front, which the
 * programs take for "this is text"; so is what would begin a cell of its own for a program that takes `;`, `|` or tabs
 * for separators. Blank space, quotes and invisible characters before a sign do not help: some programs drop them. Nor do
 * the full-width signs, which some take for the plain ones.
 *
 * What begins with `'` gets one as well, so that taking a `'` off at each of these places always gives back what was there.
 */
const COMPUTED =
  /(?<=^|[;|\t])(?=[\s"'`\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]*[=+\-@＝＋－＠﹦﹢﹣﹫⁼₌⁺₊⁻₋]|[\t\r\n'])/gu;

/** Null is the empty cell. */
export const inertCell = (value: string | number | null): string =>
  value === null ? '' : String(value).replace(COMPUTED, "'");
