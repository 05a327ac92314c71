/**
 * What signature checks can be saved, behind the engine's crypto port.
 *
 * A Grant whose exact bytes verified once under a key needs no second signature check. The memory is keyed by the
 * whole key, the whole signed text and the whole signature, and holds only what verified; everything else about the
 * Grant is evaluated every time. Beside that each request remembers its own verdicts, good or bad, and the hash of its
 * Grant, for as long as it lasts: it may be evaluated several times, and the tokens that it holds do not change.
 */
import { type CryptoPort, encodeBase64url, type Presented } from '@svc/protocol';
import { LRUCache } from 'lru-cache';

export class GrantSignatureMemo {
  private readonly verified = new LRUCache<string, true>({
    max: 10_000,
    maxSize: 64 * 2 ** 20,
    sizeCalculation: (_, key) => key.length,
  });

  constructor(private readonly crypto: CryptoPort) {}

  /** A crypto port for one request. */
  cryptoFor(presented: Presented): CryptoPort {
    return checkedOnce(this.rememberingGrant(presented));
  }

  private rememberingGrant({ grant }: Presented): CryptoPort {
    if (!grant.ok) return this.crypto;
    const { signingInput, jws } = grant.value;
    const { crypto } = this;
    let grantHash: string | null = null;
    return {
      sha256Hex: (data) => {
        if (data !== jws) return crypto.sha256Hex(data);
        grantHash ??= crypto.sha256Hex(jws);
        return grantHash;
      },
      isStrictKey: (publicKey) => crypto.isStrictKey(publicKey),
      verify: (publicKey, message, signature) =>
        message === signingInput
          ? this.verifyGrant(publicKey, signingInput, signature)
          : crypto.verify(publicKey, message, signature),
    };
  }

  private verifyGrant(publicKey: Uint8Array, signingInput: string, signature: Uint8Array): boolean {
    const key = `${encodeBase64url(publicKey)}.${signingInput}.${encodeBase64url(signature)}`;
    if (this.verified.get(key) === true) return true;
    const verifies = this.crypto.verify(publicKey, signingInput, signature);
    if (verifies) this.verified.set(key, true);
    return verifies;
  }
}

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
