/** Reads a text that contains a JWS or an object, for example pasted or from a file. */

const SPACE = ' \t\r\n';

/**
 * The text without the JSON white space around it (RFC 8259 §2); null if `given` is not a text. `trim()` would also
 * remove a byte order mark and other characters, and which ones depends on the language: a file must verify alike in
 * every language.
 */
export const readGivenText = (given: unknown): string | null => {
  if (typeof given !== 'string') return null;
  let [begin, end] = [0, given.length];
  while (begin < end && SPACE.includes(given.charAt(begin))) begin++;
  while (begin < end && SPACE.includes(given.charAt(end - 1))) end--;
  return given.slice(begin, end);
};
