/** The one form of every public message: a sentence, with a full stop. */

/** Makes it begin with a capital, unless it begins with a field name or similar, and end with a full stop. */
export const asSentence = (text: string): string => {
  const begun = BEGINS_WITH_A_WORD.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return ENDED.test(begun) ? begun : `${begun}.`;
};

const BEGINS_WITH_A_WORD = /^[a-z]+ /;
const ENDED = /[.!?]$/;
