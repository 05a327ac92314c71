/**
 * What a Grant that comes again saves: it is neither parsed nor hashed again, and its signature is not checked again.
 *
 * The memory is keyed by the whole text of the Grant and holds only what verified, with the key under which it did: another
 * text is not found, and under another key the signature is checked anew. Parsing and hashing are functions of the text alone;
 * all else about the Grant is evaluated every time. Beside that each request remembers its own verdicts, good or bad, and the
 * hash of its Grant, for as long as it lasts: it may be evaluated several times, and the tokens that it holds do not change.
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

/** Counted as `bytesOf` does: more than ten thousand Grants with one Capability. */
const MAX_BYTES = 128 * 2 ** 20;

type GrantPresented = Presented['grant'];

interface CheckedGrant {
  readonly grant: GrantPresented;
  readonly hash: string;
  /** Under which its signature verified. */
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

  /** A request, read, and a crypto port for it alone. */
  read(request: VerifyRequest): { readonly presented: Presented; readonly crypto: CryptoPort } {
    const known = this.checked.get(request.grant);
    const grant = known?.grant ?? parseGrant(ownCopyOf(request.grant));
    const presented = parsePresented(request, grant);
    return { presented, crypto: checkedOnce(this.cryptoFor(grant, known)) };
  }

  /** Bytes of what is remembered, as counted. */
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

/** A part of a larger text, as a Grant is of a body, would keep all of that in memory. */
const ownCopyOf = (text: string): string => Buffer.from(text).toString();

/** What a value takes in memory, rather more than less: a text that is part of another may hold on to the whole. */
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
