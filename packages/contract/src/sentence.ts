/** The one form of every public message: a sentence, with a full stop. */

/** Begins with a capital, unless with the name of a field or the like, and ends with a full stop. */
export const asSentence = (text: string): string => {
  const begun = BEGINS_WITH_A_WORD.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return ENDED.test(begun) ? begun : `${begun}.`;
};

const BEGINS_WITH_A_WORD = /^[a-z]+ /;
const ENDED = /[.!?]$/;
