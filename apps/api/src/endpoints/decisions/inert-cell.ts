/**
 * Makes cells that a spreadsheet shows and never computes.
 *
 * - A cell that begins like a formula gets a `'` in front, which spreadsheets take for "this is text".
 * - So does every part of the text that would begin a cell in a program that takes `;`, `|` or tabs for separators.
 * - Blank space, quotes and invisible characters before the sign do not prevent the mark, because some programs drop
 *   them.
 * - Full-width signs are treated like the plain ones, because some programs take them for these.
 * - What begins with `'` gets another `'`. So a reader that removes one `'` at each of these places gets the original
 *   text.
 */
const DROPPED = /[\s"'`\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800]/u;
const SIGN = /[=+\-@＝＋－＠﹦﹢﹣﹫⁼₌⁺₊⁻₋]/u;
const ALWAYS_MARKED = /[\t\r\n']/;
const SEPARATOR = /[;|\t]/;

/** Null gives the empty cell. */
export const inertCell = (value: string | number | null): string => {
  const text = String(value ?? '');
  const [first = ''] = text;
  if (!DROPPED.test(first) && !SIGN.test(first) && !SEPARATOR.test(text)) return text;
  return markCells([...text]).join('');
};

/**
 * Inserts the marks from right to left. A tab can be dropped or can separate cells, so the character behind it is
 * examined only once.
 */
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
