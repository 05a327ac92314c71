/**
 * Cells that a spreadsheet shows and never computes. What begins like a formula is given a `'` in front, which the
 * programs take for "this is text"; so is what would begin a cell of its own for a program that takes `;`, `|` or tabs
 * for separators. Blank space, quotes and invisible characters before a sign do not help: some programs drop them. Nor do
 * the full-width signs, which some take for the plain ones.
 *
 * What begins with `'` gets one as well, so that taking a `'` off at each of these places always gives back what was there.
 */
const DROPPED = /[\s"'`\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
const SIGN = /[=+\-@＝＋－＠﹦﹢﹣﹫⁼₌⁺₊⁻₋]/u;
const ALWAYS_MARKED = /[\t\r\n']/;
const SEPARATOR = /[;|\t]/;

/** Null is the empty cell. */
export const inertCell = (value: string | number | null): string => {
  const text = String(value ?? '');
  const [first = ''] = text;
  if (!DROPPED.test(first) && !SIGN.test(first) && !SEPARATOR.test(text)) return text;
  return markCells([...text]).join('');
};

/** Puts the marks in, from the right: a tab may be dropped as well as separate, so what comes behind it is looked at once. */
const markCells = (characters: string[]): readonly string[] => {
  let isBeforeSign = false;
  for (let at = characters.length - 1; at >= 0; at -= 1) {
    const character = characters[at] as string;
    if (!DROPPED.test(character)) isBeforeSign = SIGN.test(character);
    const beginsCell = at === 0 || SEPARATOR.test(characters[at - 1] as string);
    if (beginsCell && (isBeforeSign || ALWAYS_MARKED.test(character))) characters[at] = `'${character}`;
  }
  return characters;
};
