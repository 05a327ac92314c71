/**
 * Finds the member of a JSON text that contains a fault, so that a message can name the member and not only a position.
 */

interface Level {
  readonly isArray: boolean;
  /** The member name or index that the reader is at; null before the first name. */
  step: string | number | null;
  expectsName: boolean;
}

/**
 * The path of the value at `offset`, or of the member whose name begins there; empty at the top level. The text before
 * `offset` must be well-formed up to there.
 */
export const jsonPathAt = (text: string, offset: number): readonly (string | number)[] => {
  const levels: Level[] = [];
  for (let at = 0; at < offset || isNameAt(text, at, levels); ) {
    const level = levels.at(-1);
    const character = text.charAt(at);
    if (character === '"') {
      const end = endOfString(text, at);
      if (level?.expectsName === true) {
        const name = readName(text.slice(at, end));
        if (name === null) break;
        level.step = name;
        level.expectsName = false;
      }
      at = end;
      continue;
    }
    if (character === '{') levels.push({ isArray: false, step: null, expectsName: true });
    else if (character === '[') levels.push({ isArray: true, step: 0, expectsName: false });
    else if (character === '}' || character === ']') levels.pop();
    else if (character === ',' && level !== undefined) stepOn(level);
    at++;
  }
  return levels.flatMap(({ step }) => (step === null ? [] : [step]));
};

/** The offset of a duplicate member is the beginning of its name. */
const isNameAt = (text: string, at: number, levels: readonly Level[]): boolean =>
  text.charAt(at) === '"' && levels.at(-1)?.expectsName === true;

const stepOn = (level: Level): void => {
  if (typeof level.step === 'number') level.step++;
  else {
    level.step = null;
    level.expectsName = true;
  }
};

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/sy;

/** Position behind the closing quote, or the end of the text if there is none. */
const endOfString = (text: string, start: number): number => {
  STRING.lastIndex = start;
  return STRING.test(text) ? STRING.lastIndex : text.length;
};

const readName = (text: string): string | null => {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
};
