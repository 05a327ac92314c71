/** Storage of evidence: artifacts that Receipts name by their hash. */
import type { Sha256 } from '@svc/protocol';

/** A stored artifact, addressed by the SHA-256 of its exact bytes. */
export interface EvidenceRecord {
  readonly hash: Sha256;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface EvidenceRepository {
  /** Stores evidence for ever. Idempotent: the same bytes have the same hash. */
  insert(evidence: EvidenceRecord): Promise<void>;
  /**
   * Stores evidence that is kept only while it is in force (a Principal's document, a list's credential). Once a
   * Receipt names it, or it was served, it is kept for ever.
   */
  insertLoose(evidence: EvidenceRecord): Promise<void>;
  /** Keeps for ever a status list that was served under its address; at most one a minute for each address. */
  keepServedList(url: string, hash: Sha256, nowMs: number): Promise<void>;
  /**
   * Reads about `limit` more Receipts of the sealed ledger, and keeps the evidence that they name. Answers how many it
   * read; 0 when none are left, or another process is doing this.
   */
  nameFromReceipts(limit: number): Promise<number>;
  /** Removes at most `limit` artifacts that by `nowMs` had been unused for an hour; answers how many. */
  collect(limit: number, nowMs: number): Promise<number>;
  find(hash: Sha256): Promise<EvidenceRecord | null>;
}
