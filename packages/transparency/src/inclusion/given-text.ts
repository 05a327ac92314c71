/** A text that is a JWS or an object, as somebody pasted it or a file has it. */

const SPACE = ' \t\r\n';

/**
 * The text without the white space of JSON around it (RFC 8259 §2); null where no text is given. `trim()` also takes a byte
 * order mark and other characters, which differ between languages: the same file must be verified alike in each.
 */
export const readGivenText = (given: unknown): string | null => {
  if (typeof given !== 'string') return null;
  let [begin, end] = [0, given.length];
  while (begin < end && SPACE.includes(given.charAt(begin))) begin++;
  while (begin < end && SPACE.includes(given.charAt(end - 1))) end--;
  return given.slice(begin, end);
};
