/** Edits of the text of a Grant or a Proof before it is encoded (protocol §1). */
import type { Scene, TokenDraft } from '../scene.ts';

/** Bytes that are not UTF-8 but that some decoder turns into text. */
export const NOT_UTF8 = [
  ['byte-ff', 'a byte that UTF-8 never has', 'ff'],
  ['surrogate', 'half a surrogate pair in three bytes', 'eda080'],
  ['overlong', 'a slash in two bytes', 'c0af'],
  ['cut-short', 'the first two bytes of three', 'e282'],
] as const;

/** Replaces a text that occurs once in the payload by bytes, so that the rest of the payload is right. */
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
