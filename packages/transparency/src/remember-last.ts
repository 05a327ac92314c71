/**
 * Remembers the last answer of a pure function of a text: one reader meets the same document, key or name many times
 * over. Forgetting costs time, never another answer.
 */
export const rememberLast = <T>(compute: (text: string) => T): ((text: string) => T) => {
  let last: { readonly text: string; readonly value: T } | null = null;
  return (text) => {
    if (last?.text !== text) last = { text, value: compute(text) };
    return last.value;
  };
};
