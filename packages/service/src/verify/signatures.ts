/**
 * A cache of Grants, so that a Grant that is presented again is not parsed, hashed or checked for its signature again.
 *
 * The cache is keyed by the whole text of the Grant. It holds only Grants whose signature verified, with the key that
 * verified it: another text is not found, and under another key the signature is checked again. Parsing and hashing
 * depend on the text alone; everything else about the Grant is evaluated every time.
 *
 * Besides, each request stores its own signature results, positive and negative, and the hash of its Grant until it
 * ends: it may be evaluated several times, and its tokens do not change.
 */
import { isSameBytes } from '@svc/codec';
import {
  type CryptoPort,
  type Presented,
  parseGrant,
  parsePresented,
  type VerifyRequest,
} from '@svc/protocol';
import { LRUCache } from 'lru-cache';

/** Limit of the cache, as `bytesOf` counts: room for more than ten thousand Grants with one Capability each. */
const MAX_BYTES = 128 * 2 ** 20;

type GrantPresented = Presented['grant'];

interface CheckedGrant {
  readonly grant: GrantPresented;
  readonly hash: string;
  /** The key that verified the Grant's signature. */
  readonly publicKey: Uint8Array;
}

export class GrantMemo {
  private readonly checked: LRUCache<string, CheckedGrant>;

  constructor(
    private readonly crypto: CryptoPort,
    maxBytes = MAX_BYTES,
  ) {
    this.checked = new LRUCache({ maxSize: maxBytes, sizeCalculation: (checked) => bytesOf(checked) });
  }

  /** Parses a request, and makes a crypto port for it alone. */
  read(request: VerifyRequest): { readonly presented: Presented; readonly crypto: CryptoPort } {
    const known = this.checked.get(request.grant);
    const grant = known?.grant ?? parseGrant(ownCopyOf(request.grant));
    const presented = parsePresented(request, grant);
    return { presented, crypto: checkedOnce(this.cryptoFor(grant, known)) };
  }

  /** Size of the cache in bytes, as `bytesOf` counts. */
  get size(): number {
    return this.checked.calculatedSize;
  }

  private cryptoFor(grant: GrantPresented, known: CheckedGrant | undefined): CryptoPort {
    if (!grant.ok) return this.crypto;
    const { crypto } = this;
    const { jws, signingInput } = grant.value;
    let grantHash = known?.hash;
    const hash = () => {
      grantHash ??= crypto.sha256Hex(jws);
      return grantHash;
    };
    return {
      sha256Hex: (data) => (data === jws ? hash() : crypto.sha256Hex(data)),
      isStrictKey: (publicKey) => crypto.isStrictKey(publicKey),
      verify: (publicKey, message, signature) => {
        const isGrants = message === signingInput && isSameBytes(signature, grant.value.signature);
        if (isGrants && known !== undefined && isSameBytes(known.publicKey, publicKey)) return true;
        const verifies = crypto.verify(publicKey, message, signature);
        if (verifies && isGrants)
          this.checked.set(jws, { grant, hash: hash(), publicKey: Uint8Array.from(publicKey) });
        return verifies;
      },
    };
  }
}

/** A copy of its own: a Grant is a substring of the request body, and a substring can keep the whole body in memory. */
const ownCopyOf = (text: string): string => Buffer.from(text).toString();

/** Estimated memory of a value in bytes, rather too high than too low. */
export const bytesOf = (value: unknown): number => {
  if (typeof value === 'string') return 32 + 2 * value.length;
  if (typeof value !== 'object' || value === null) return 16;
  if (ArrayBuffer.isView(value)) return 256 + value.byteLength;
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + 16 + bytesOf(item), 184);
  const entries = Object.entries(value);
  return entries.reduce((sum, [name, item]) => sum + 64 + 2 * name.length + bytesOf(item), 64);
};

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
      if (
        known !== undefined &&
        isSameBytes(known.publicKey, publicKey) &&
        isSameBytes(known.signature, signature)
      )
        return known.verifies;
      const verifies = crypto.verify(publicKey, message, signature);
      verdicts.set(message, { publicKey, signature, verifies });
      return verifies;
    },
  };
};
