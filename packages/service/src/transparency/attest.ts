/**
 * The service's word, under its active status key, for a Receipt and its checkpoint where a key that signed one of them is not
 * in force any more (protocol §12). It is about what is stored: storage decides, not whoever holds the old key.
 */
import { parseCompactJws, type ReceiptId, sha256Of, ulidOf, ulidTimeMs } from '@svc/protocol';
import { RECEIPT_JWS_MAX_CHARS } from '@svc/receipts';
import { parseSignedCheckpoint, signAttestation } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import type { CheckpointRecord } from '../ports/checkpoints.ts';
import type { ReceiptRecord } from '../ports/decisions.ts';
import { findUntimelyKey } from '../service-keys/key-ring.ts';

type Deps = Pick<ServiceDeps, 'identity' | 'clock' | 'crypto'>;

/** The compact JWS, or null where every date counts. */
export const attestWhereNeeded = async (
  { identity, clock, crypto }: Deps,
  { receiptId, jws }: ReceiptRecord,
  checkpoint: CheckpointRecord,
): Promise<string | null> => {
  const { did, receiptKeys, statusKeys } = identity;
  const kid = kidOf(jws);
  if (kid === null) return null;
  const isTimely =
    findUntimelyKey(receiptKeys, kid, evaluatedAt(receiptId)) === null &&
    findUntimelyKey(statusKeys, checkpoint.kid, closedAt(checkpoint)) === null;
  if (isTimely) return null;
  const attestation = {
    iss: did,
    receipt_id: receiptId,
    receipt_hash: sha256Of(crypto, jws),
    checkpoint_hash: checkpoint.hash,
    iat: Math.floor(clock.nowMs() / 1000),
  };
  return signAttestation(attestation, statusKeys.signer);
};

const evaluatedAt = (receiptId: ReceiptId): number => ulidTimeMs(ulidOf(receiptId)) ?? Number.NaN;

const closedAt = ({ jws }: CheckpointRecord): number => {
  const signed = parseSignedCheckpoint(jws);
  return signed.ok ? signed.signedAtMs : Number.NaN;
};

/** Null for what is no JWS, to which nobody could attest. */
const kidOf = (text: string): string | null => {
  const jws = parseCompactJws(text, RECEIPT_JWS_MAX_CHARS);
  return jws.ok && typeof jws.header.kid === 'string' ? jws.header.kid : null;
};
