/**
 * Decodes a path as the most lenient server would: repeatedly, until nothing is left to decode, in every way that
 * servers are known to decode (protocol §6). One pass is enough, because the result of each escape is tried at once as
 * a part of the next one.
 */

/** A fully decoded character, with its position in the text. */
export interface Decoded {
  readonly code: number;
  readonly start: number;
  readonly end: number;
  /** One octet of an incomplete UTF-8 sequence. */
  readonly isOctet: boolean;
}

type Found = Pick<Decoded, 'code' | 'isOctet'> & { readonly length: number };

export const decodeFully = (text: string): readonly Decoded[] => {
  const characters: Decoded[] = [];
  for (let i = 0; i < text.length; i++) {
    characters.push({ code: text.charCodeAt(i), start: i, end: i + 1, isOctet: false });
    for (let found = findAtEnd(characters); found !== null; found = findAtEnd(characters)) {
      const { length, code, isOctet } = found;
      const [first] = characters.splice(-length);
      characters.push({ code, isOctet, start: first?.start ?? i, end: i + 1 });
    }
  }
  return characters;
};

const findAtEnd = (characters: readonly Decoded[]): Found | null =>
  findEscape(characters) ?? findUnicodeEscape(characters) ?? findUtf8(characters);

const PERCENT = 0x25;

/** `%XX`. */
const findEscape = (characters: readonly Decoded[]): Found | null => {
  if (characters.at(-3)?.code !== PERCENT) return null;
  const digits = textOf(characters.slice(-2));
  if (!/^[0-9A-Fa-f]{2}$/.test(digits)) return null;
  const code = Number.parseInt(digits, 16);
  return { length: 3, code, isOctet: code > 0x7f };
};

/** `%uXXXX`, which no standard defines but some servers decode. */
const findUnicodeEscape = (characters: readonly Decoded[]): Found | null => {
  if (characters.at(-6)?.code !== PERCENT) return null;
  const digits = textOf(characters.slice(-5));
  if (!/^[uU][0-9A-Fa-f]{4}$/.test(digits)) return null;
  return { length: 6, code: plain(Number.parseInt(digits.slice(1), 16)), isOctet: false };
};

const MAX_UTF8_OCTETS = 6;

/** Also decodes what UTF-8 forbids: overlong sequences (`C0 AF` for `/`), and sequences of five and six octets. */
const findUtf8 = (characters: readonly Decoded[]): Found | null => {
  let code = 0;
  for (let length = 1; length <= MAX_UTF8_OCTETS; length++) {
    const { code: octet = 0, isOctet = false } = characters.at(-length) ?? {};
    if (!isOctet) return null;
    if (octet < 0xc0) code += (octet & 0x3f) * 64 ** (length - 1);
    else if (sequenceLength(octet) !== length) return null;
    else return { length, code: plain(code + leadBits(octet) * 64 ** (length - 1)), isOctet: false };
  }
  return null;
};

/** Length in octets of the sequence that begins with `lead`. */
const sequenceLength = (lead: number): number =>
  [0xe0, 0xf0, 0xf8, 0xfc, 0xfe].filter((next) => lead >= next).length + 2;
const leadBits = (lead: number): number => lead & (0x7f >> sequenceLength(lead));

const textOf = (characters: readonly Decoded[]): string =>
  String.fromCharCode(...characters.map(({ code }) => code));

/**
 * The ASCII character to which compatibility normalisation (NFKC) or a code page's best fit maps `code`; else `code`
 * itself.
 */
const plain = (code: number): number => LOOK_ALIKES.get(code) ?? code;

const LOOK_ALIKES: ReadonlyMap<number, number> = new Map(
  Object.entries({
    '/': [0xff0f, 0x2044, 0x2215, 0x29f8],
    '\\': [0xff3c, 0xfe68, 0x2216, 0x29f5],
    '.': [0xff0e, 0xfe52, 0x2024, 0x2025],
    ';': [0xff1b, 0xfe54],
    '?': [0xff1f, 0xfe56],
    '#': [0xff03, 0xfe5f],
    '%': [0xff05, 0xfe6a],
  }).flatMap(([character, codes]) => codes.map((code) => [code, character.charCodeAt(0)] as const)),
);
