/**
 * How every program writes for people. What is quoted may have been written by an attacker: control and format
 * characters are escaped, so that it can neither move the cursor nor pass for a line of ours.
 */

/** Paints text; leaves it as it is where colours are not wanted. */
export type Paint = (text: string, colour: 'green' | 'red' | 'yellow' | 'bold') => string;

const CODES = { green: 32, red: 31, yellow: 33, bold: 1 } as const;

export const painter =
  (colours: boolean): Paint =>
  (text, colour) =>
    colours ? `\u001b[${CODES[colour]}m${text}\u001b[0m` : text;

/**
 * Escapes every control, format, surrogate and private character, line breaks included, and what is shown as nothing:
 * in a run of variation selectors whole sentences can be hidden from people and not from models.
 */
export const printable = (text: string): string =>
  text.replace(
    /[\p{C}\p{DI}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`,
  );

/**
 * JSON on one line. Control, format and separator characters are escaped in it, so that it can be shown on a terminal as it is:
 * `JSON.stringify` leaves those above U+007E.
 */
export const printableJson = (value: object): string =>
  JSON.stringify(value).replace(/[\x7f-\x9f\p{Cf}\p{Zl}\p{Zp}]/gu, (character) =>
    character.split('').map(escapeUnit).join(''),
  );

const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;

export const line = (label: string, text: string): string => `  ${label.padEnd(14)} ${printable(text)}`;
