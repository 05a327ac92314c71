/** Stored artifacts that Receipts name by their hash. */
import type { Sha256 } from '@svc/protocol';

/** A stored artifact, addressed by the SHA-256 of its exact bytes. */
export interface EvidenceRecord {
  readonly hash: Sha256;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface EvidenceRepository {
  /** Kept for ever. Idempotent: the same bytes have the same hash. */
  insert(evidence: EvidenceRecord): Promise<void>;
  /**
   * Kept while it is in force, that is, a Principal's document or a list's credential; for ever once a Receipt names it or
   * it was served.
   */
  insertLoose(evidence: EvidenceRecord): Promise<void>;
  /** A status list was served under its address, so it is kept; of those of one address one a minute. */
  keepServedList(url: string, hash: Sha256, nowMs: number): Promise<void>;
  /**
   * Reads about `limit` further Receipts of the sealed ledger, and keeps what they name. Answers how many; 0 when there
   * are none left, or somebody else is at it.
   */
  nameFromReceipts(limit: number): Promise<number>;
  /** Removes at most `limit` artifacts that had been of no use for an hour at `nowMs`; answers how many. */
  collect(limit: number, nowMs: number): Promise<number>;
  find(hash: Sha256): Promise<EvidenceRecord | null>;
}
