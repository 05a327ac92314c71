/** Status lists: allocation of indexes, and the credentials as they were signed. */
import type { DidWeb, Sha256 } from '@svc/protocol';

/** A status list: its allocation counter and the credential as it was signed. */
export interface StatusListRecord {
  readonly url: string;
  readonly principal: DidWeb;
  /** As it stands in the DID. Unique together with `number`. */
  readonly domain: string;
  readonly number: number;
  readonly sizeBits: number;
  readonly nextOrdinal: number;
  /** Key of the permutation from ordinals to indexes; never leaves the service. */
  readonly permutationKey: Uint8Array;
  readonly bits: Uint8Array;
  readonly credential: string;
  readonly credentialHash: Sha256;
  readonly validFromMs: number;
  readonly version: number;
}

/** A list with new bits, as it was signed. */
export type SignedStatusList = Pick<
  StatusListRecord,
  'url' | 'bits' | 'credential' | 'credentialHash' | 'validFromMs'
>;

export interface StatusListRepository {
  insert(list: Omit<StatusListRecord, 'version' | 'nextOrdinal'>): Promise<void>;
  /**
   * The next free list number of a domain, from 1. Lists are numbered per domain, which several Principals may
   * share; the numbering stays locked until the end of the transaction.
   */
  takeNumber(domain: string): Promise<number>;
  findByUrl(url: string): Promise<StatusListRecord | null>;
  /** Locks the row until the end of the transaction. */
  findForUpdate(url: string): Promise<StatusListRecord | null>;
  /** Ascending URLs after `after` (exclusive), at most `limit`, of lists whose credential begins with one of `headers`. */
  listUrlsByHeader(headers: readonly string[], after: string, limit: number): Promise<string[]>;
  /**
   * Takes the next ordinal of the Principal's newest list, atomically; null when that list is full, or has given out
   * `atMost`, or is absent.
   */
  takeOrdinal(
    principal: DidWeb,
    atMost?: number,
  ): Promise<{ url: string; ordinal: number; sizeBits: number; permutationKey: Uint8Array } | null>;
  update(list: SignedStatusList): Promise<void>;
}
