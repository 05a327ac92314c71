/**
 * Cells that a spreadsheet shows and never computes. What begins like a formula is given a `'` in front, which the
 * programs take for "this is text". Blank space, quotes and invisible characters before it do not help: some programs
 * drop them. Nor do the full-width signs, which some take for the plain ones.
 *
 * Texts that begin with `'` get one as well, so that taking a leading `'` off always gives back what was there.
 */
const COMPUTED = /^(?:[\s"'`\p{Cf}\p{Cc}]*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n'])/u;

/** Null is the empty cell. */
export const inertCell = (value: string | number | null): string => {
  if (value === null) return '';
  const text = String(value);
  return COMPUTED.test(text) ? `'${text}` : text;
};
