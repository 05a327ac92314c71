/** Edits of the text of a Grant or a Proof, as it is written before it is encoded (protocol §1). */
import type { Scene, TokenDraft } from '../scene.ts';

/** Bytes that are not UTF-8, each of which some decoder turns into text. */
export const NOT_UTF8 = [
  ['byte-ff', 'a byte that UTF-8 never has', 'ff'],
  ['surrogate', 'half a surrogate pair in three bytes', 'eda080'],
  ['overlong', 'a slash in two bytes', 'c0af'],
  ['cut-short', 'the first two bytes of three', 'e282'],
] as const;

/** Puts bytes at the place of a text that stands once in the payload, so that the rest of it is right. */
export const bytesInstead =
  (text: string, hex: string) =>
  (json: string): Uint8Array => {
    const [before = '', after, ...more] = json.split(text);
    if (after === undefined || more.length > 0) throw new Error(`${text} does not stand once`);
    return Buffer.concat([Buffer.from(before), Buffer.from(hex, 'hex'), Buffer.from(after)]);
  };

export const edited = (draft: 'grant' | 'proof', edits: Partial<TokenDraft>) => (s: Scene) => {
  Object.assign(s[draft], edits);
};
