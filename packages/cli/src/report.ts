/**
 * How all programs write for people. Quoted text may come from an attacker. Control and format characters are escaped,
 * so that it can neither move the cursor nor look like a line of the program.
 */

/** Colours text; returns it unchanged if colours are off. */
export type Paint = (text: string, colour: 'green' | 'red' | 'yellow' | 'bold') => string;

const CODES = { green: 32, red: 31, yellow: 33, bold: 1 } as const;

export const painter =
  (colours: boolean): Paint =>
  (text, colour) =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/**
 * Escapes every control, format, surrogate and private character, line breaks included, and invisible characters. Whole
 * sentences could be hidden from people, but not from models, in a run of variation selectors.
 */
export const printable = (text: string): string =>
  text.replace(
    /[\p{C}\p{DI}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

/**
 * JSON on one line, with control, format and separator characters escaped, so that a terminal can show it.
 * `JSON.stringify` leaves those above U+007E unescaped.
 */
export const printableJson = (value: object): string =>
  JSON.stringify(value).replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.split('').map(escapeUnit).join(''),
  );

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const line = (label: string, text: string): string => `  ${label.padEnd(14)} ${printable(text)}`;
