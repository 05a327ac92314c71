/**
 * Which keys the owners of hosted documents have ended there, and from when on. A document of 64 KB takes some 10 ms to be
 * read, and every key may read the directory: each is read once, and others have their turn after it.
 */
import { setImmediate as othersHadTheirTurn } from 'node:timers/promises';
import { type DidWeb, parseDidDocument, type Sha256 } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { PrincipalRecord } from '../ports/principals.ts';

/** The instants in ms by `kid`. */
export type Ends = ReadonlyMap<string, number>;

type Documented = Pick<PrincipalRecord, 'did' | 'kind' | 'document'>;

const NONE: Ends = new Map();
/** Bytes of what is remembered: 50,000 documents that end no key. */
const MAX_BYTES = 16 * 2 ** 20;
const BYTES_OF_ENTRY = 320;
const BYTES_OF_KEY = 64;

export class EndedKeys {
  readonly #ends: LRUCache<Sha256, Ends>;

  /** `read` is called once for each document that is not remembered. */
  constructor(
    private readonly read: (text: string, did: DidWeb) => Ends = endsIn,
    maxBytes = MAX_BYTES,
  ) {
    this.#ends = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /** Bytes of what is remembered, as counted. */
  get size(): number {
    return this.#ends.calculatedSize;
  }

  async find({ did, kind, document }: Documented): Promise<Ends> {
    // What the service publishes itself ends no key in that way.
    if (kind !== 'hosted' || document === null) return NONE;
    const known = this.#ends.get(document.hash);
    if (known !== undefined) return known;
    const ends = this.read(document.body, did);
    this.#ends.set(document.hash, ends);
    await othersHadTheirTurn();
    return ends;
  }
}

/** Own copies of the ids: a part of the text would keep all of it. */
const endsIn = (text: string, did: DidWeb): Ends => {
  const ends = parseDidDocument(text, did)?.endedFromMs ?? NONE;
  return ends.size === 0
    ? NONE
    : new Map([...ends].map(([kid, fromMs]) => [Buffer.from(kid).toString(), fromMs]));
};

const bytesOf = (ends: Ends): number => {
  let bytes = BYTES_OF_ENTRY;
  for (const kid of ends.keys()) bytes += BYTES_OF_KEY + 2 * kid.length;
  return bytes;
};
