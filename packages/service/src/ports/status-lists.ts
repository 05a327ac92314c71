/** Storage of status lists: allocation of indexes, and the signed credentials. */
import type { DidWeb, Sha256 } from '@svc/protocol';

/** A status list: its allocation counter and its signed credential. */
export interface StatusListRecord {
  readonly url: string;
  readonly principal: DidWeb;
  /** The Principal's domain as written in the DID. Unique together with `number`. */
  readonly domain: string;
  readonly number: number;
  readonly sizeBits: number;
  readonly nextOrdinal: number;
  /** Key of the permutation that maps ordinals to indexes. It never leaves the service. */
  readonly permutationKey: Uint8Array;
  readonly bits: Uint8Array;
  readonly credential: string;
  readonly credentialHash: Sha256;
  readonly validFromMs: number;
  readonly version: number;
}

/** A list with new bits and the credential that was signed for them. */
export type SignedStatusList = Pick<
  StatusListRecord,
  'url' | 'bits' | 'credential' | 'credentialHash' | 'validFromMs'
>;

export interface StatusListRepository {
  insert(list: Omit<StatusListRecord, 'version' | 'nextOrdinal'>): Promise<void>;
  /**
   * Takes the next free list number of a domain, from 1. Lists are numbered per domain because several Principals may
   * share it. The numbering is locked until the end of the transaction.
   */
  takeNumber(domain: string): Promise<number>;
  findByUrl(url: string): Promise<StatusListRecord | null>;
  /** Locks the row until the end of the transaction. */
  findForUpdate(url: string): Promise<StatusListRecord | null>;
  /**
   * Ascending URLs after `after` (exclusive), at most `limit`, of lists whose credential begins with one of `headers`.
   */
  listUrlsByHeader(headers: readonly string[], after: string, limit: number): Promise<string[]>;
  /**
   * Takes the next ordinal of the Principal's newest list, atomically. Null when there is no list, it is full, or
   * `atMost` of its ordinals are taken.
   */
  takeOrdinal(
    principal: DidWeb,
    atMost?: number,
  ): Promise<{ url: string; ordinal: number; sizeBits: number; permutationKey: Uint8Array } | null>;
  update(list: SignedStatusList): Promise<void>;
}
