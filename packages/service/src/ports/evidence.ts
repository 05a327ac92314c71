/** Stored artifacts that Receipts name by their hash. */
import type { Sha256 } from '@svc/protocol';

/** A stored artifact, addressed by the SHA-256 of its exact bytes. */
export interface EvidenceRecord {
  readonly hash: Sha256;
  readonly contentType: string;
  readonly body: Uint8Array;
}

export interface EvidenceRepository {
  /** Idempotent: the same bytes have the same hash. */
  insert(evidence: EvidenceRecord): Promise<void>;
  find(hash: Sha256): Promise<EvidenceRecord | null>;
}
