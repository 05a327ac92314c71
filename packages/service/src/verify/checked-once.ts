/**
 * A crypto port that remembers its verdicts on signatures for as long as one request lasts: it may be evaluated several
 * times, and the tokens that it holds do not change.
 */
import type { CryptoPort } from '@svc/protocol';

interface Verdict {
  readonly publicKey: Uint8Array;
  readonly signature: Uint8Array;
  readonly verifies: boolean;
}

export const checkedOnce = (crypto: CryptoPort): CryptoPort => {
  const verdicts = new Map<Parameters<CryptoPort['verify']>[1], Verdict>();
  return {
    sha256Hex: (data) => crypto.sha256Hex(data),
    isStrictKey: (publicKey) => crypto.isStrictKey(publicKey),
    verify: (publicKey, message, signature) => {
      const known = verdicts.get(message);
      if (known !== undefined && isSame(known.publicKey, publicKey) && isSame(known.signature, signature))
        return known.verifies;
      const verifies = crypto.verify(publicKey, message, signature);
      verdicts.set(message, { publicKey, signature, verifies });
      return verifies;
    },
  };
};

const isSame = (a: Uint8Array, b: Uint8Array): boolean =>
  a === b || (a.length === b.length && a.every((byte, i) => byte === b[i]));
