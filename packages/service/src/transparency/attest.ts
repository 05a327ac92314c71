/**
 * The service's word, under its active status key, for a Receipt and its checkpoint, for the time when a key that signed one
 * of them is not in force any more (protocol §12). It is about what is stored: storage decides, not whoever holds the old key.
 */
import { kidOfJws, type ReceiptId, sha256Of, ulidOf, ulidTimeMs } from '@svc/protocol';
import { RECEIPT_JWS_MAX_CHARS } from '@svc/receipts';
import { dayOfReceipt, parseSignedCheckpoint, signAttestation } from '@svc/transparency';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import type { ReceiptRecord } from '../ports/decisions.ts';
import { findUntimelyKey } from '../service-keys/key-ring.ts';
import { identityOfKey } from '../service-keys/service-identity.ts';

type Deps = Pick<ServiceDeps, 'identity' | 'clock' | 'crypto'>;
type StoredReceipt = Pick<ReceiptRecord, 'receiptId' | 'jws'>;

export type AttestationAnswer =
  | { readonly kind: 'pending'; readonly day: Day }
  | {
      readonly kind: 'attested';
      readonly day: Day;
      /** The compact JWS. */
      readonly attestation: string;
    };

/** The attestation of any Receipt whose day is closed. `NOT_FOUND` for one that does not exist. */
export const getAttestation = async (
  deps: Deps & Pick<ServiceDeps, 'store'>,
  receiptId: ReceiptId,
): Promise<AttestationAnswer> => {
  const day = dayOfReceipt(receiptId);
  const receipt = day === null ? null : await deps.store.receipts.find(receiptId);
  if (day === null || receipt === null) throw notFound(`No decision ${receiptId}.`);
  const checkpoint = await deps.store.checkpoints.find(day);
  if (checkpoint === null) return { kind: 'pending', day };
  return { kind: 'attested', day, attestation: await attest(deps, receipt, checkpoint) };
};

/** The compact JWS, or null where every date counts. */
export const attestWhereNeeded = async (
  deps: Deps,
  receipt: StoredReceipt,
  checkpoint: CheckpointRecord,
): Promise<string | null> => {
  const kid = kidOfJws(receipt.jws, RECEIPT_JWS_MAX_CHARS);
  if (kid === null) return null;
  const { receiptKeys } = identityOfKey(deps.identity, kid);
  const { statusKeys } = identityOfKey(deps.identity, checkpoint.kid);
  const isTimely =
    findUntimelyKey(receiptKeys, kid, evaluatedAt(receipt.receiptId)) === null &&
    findUntimelyKey(statusKeys, checkpoint.kid, closedAt(checkpoint)) === null;
  return isTimely ? null : attest(deps, receipt, checkpoint);
};

const attest = (
  { identity: { did, statusKeys }, clock, crypto }: Deps,
  { receiptId, jws }: StoredReceipt,
  checkpoint: CheckpointRecord,
): Promise<string> => {
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
