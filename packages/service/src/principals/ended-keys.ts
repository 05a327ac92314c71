/**
 * Keys that the owners of hosted documents have ended in them, and since when. Parsing a document of 64 KB takes about
 * 10 ms, and every key may read the directory. So each document is parsed once and its result cached, and the event
 * loop is released after each parse.
 */
import { setImmediate as othersHadTheirTurn } from 'node:timers/promises';
import { type DidWeb, parseDidDocument, type Sha256 } from '@svc/protocol';
import { LRUCache } from 'lru-cache';
import type { PrincipalRecord } from '../ports/principals.ts';

/** The instants in milliseconds by `kid`. */
export type Ends = ReadonlyMap<string, number>;

type Documented = Pick<PrincipalRecord, 'did' | 'kind' | 'document'>;

const NONE: Ends = new Map();
/** Maximum size of the cache in bytes: 50,000 documents that end no key. */
const MAX_BYTES = 16 * 2 ** 20;
const BYTES_OF_ENTRY = 320;
const BYTES_OF_KEY = 64;

export class EndedKeys {
  readonly #ends: LRUCache<Sha256, Ends>;

  /** `read` is called once for each document that is not cached. */
  constructor(
    private readonly read: (text: string, did: DidWeb) => Ends = endsIn,
    maxBytes = MAX_BYTES,
  ) {
    this.#ends = new LRUCache({ maxSize: maxBytes, sizeCalculation: bytesOf });
  }

  /** Bytes of the cache, as counted. */
  get size(): number {
    return this.#ends.calculatedSize;
  }

  async find({ did, kind, document }: Documented): Promise<Ends> {
    // A document that the service publishes itself ends no key in this way.
    if (kind !== 'hosted' || document === null) return NONE;
    const known = this.#ends.get(document.hash);
    if (known !== undefined) return known;
    const ends = this.read(document.body, did);
    this.#ends.set(document.hash, ends);
    await othersHadTheirTurn();
    return ends;
  }
}

/** The ends in the document. The ids are copied, because a substring would keep the whole text in memory. */
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
