/** Edits of tokens that more than one group of vectors uses. */
import { grantToken, proofToken, purchaseCapability, type Scene, type TokenDraft } from '../scene.ts';

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';

/** Sets one of the 4 unused bits in the last character of a 64-byte signature. */
export const nonCanonicalTail = (token: string): string =>
  token.slice(0, -1) + ALPHABET.charAt(ALPHABET.indexOf(token.slice(-1)) | 1);

/** The JSON escape of U+0000. */
export const nullText = '\\u0000';

/** Fills a second Capability with patterns until the Grant has exactly `chars` characters. */
export const padTo = (scene: Scene, chars: number): void => {
  const fill = (length: number) => {
    const patterns = Array.from({ length: Math.ceil(length / 500) }, (_, i) =>
      'p'.repeat(Math.min(500, length - i * 500)),
    );
    const filler = purchaseCapability({}, { resources: patterns });
    scene.grant.subject.capabilities = [purchaseCapability(), filler];
    return grantToken(scene).length;
  };
  reach(scene.grant, chars, fill);
};

/** Fills the purchase's resource, and then the htu, until the Proof has exactly `chars` characters. */
export const padProofTo = (scene: Scene, chars: number): void => {
  const fill = (length: number) => {
    // Characters of three bytes, so that the 2,048 characters of a resource suffice.
    const wide = Math.min(Math.floor(length / 3), 1900);
    scene.action.resource = `order/${'\u4e00'.repeat(wide)}`;
    scene.proof.payload.htu = `https://shop.example/${'h'.repeat(length - wide * 3)}`;
    return proofToken(scene).length;
  };
  reach(scene.proof, chars, fill);
};

/** No base64url text has a length of 1 modulo 4, so spaces after the header help to reach every size. */
const reach = (draft: TokenDraft, chars: number, fill: (length: number) => number): void => {
  for (let spaces = 0; spaces < 3; spaces++) {
    draft.editHeader = (json) => json + ' '.repeat(spaces);
    let length = Math.floor(((chars - fill(1)) * 3) / 4) - 200;
    while (fill(length) < chars) length++;
    if (fill(length) === chars) return;
  }
  throw new Error(`no token has exactly ${chars} characters`);
};
