/**
 * The service's statement, signed by its active status key, that it has stored a Receipt and its checkpoint. It is
 * needed when a key that signed one of them is not in force any more (protocol §12). The statement is about what is
 * stored, so it rests on storage and not on the holder of the old key.
 */
import { kidOfJws, type ReceiptId, sha256Of } from '@svc/protocol';
import { RECEIPT_JWS_MAX_CHARS } from '@svc/receipts';
import { dayOfReceipt, MAX_AHEAD_MS, parseSignedCheckpoint, signAttestation } from '@svc/transparency';
import { evaluatedAtMsOf } from '../decisions/evaluated-at.ts';
import type { ServiceDeps } from '../deps.ts';
import { notFound } from '../errors.ts';
import type { FairLimiter } from '../lib/fair-limiter.ts';
import type { CheckpointRecord, Day } from '../ports/checkpoints.ts';
import type { ReceiptRecord } from '../ports/decisions.ts';
import type { Tenant } from '../ports/tenant.ts';
import { findUntimelyKey } from '../service-keys/key-ring.ts';
import { identityOfKey } from '../service-keys/service-identity.ts';
import { SIGNING_MS, StatusSignatures } from '../service-keys/status-signatures.ts';

/** How long an attestation is cached; other caches may keep the answer as long. */
const REMEMBERED_MS = 3_600_000;

type StoredReceipt = Pick<ReceiptRecord, 'receiptId' | 'jws'>;

export type AttestationAnswer =
  | { readonly kind: 'pending'; readonly day: Day }
  | {
      readonly kind: 'attested';
      readonly day: Day;
      /** The compact JWS. */
      readonly attestation: string;
    };

/**
 * Signs the attestations of this node, in turns with everything else that the status key signs for callers. Within an
 * hour, one Receipt, checkpoint and key are signed once.
 */
export class Attestor {
  readonly #deps: Pick<ServiceDeps, 'identity' | 'clock' | 'crypto'>;
  readonly #signatures: StatusSignatures;

  constructor(deps: Pick<ServiceDeps, 'identity' | 'clock' | 'crypto'>, turns: FairLimiter) {
    this.#deps = deps;
    this.#signatures = new StatusSignatures(deps.identity, turns, REMEMBERED_MS);
  }

  /** The attestation as a compact JWS. `SERVICE_UNAVAILABLE`: not signed in time. */
  attest({ receiptId, jws }: StoredReceipt, checkpoint: CheckpointRecord, tenant: Tenant): Promise<string> {
    const { identity, clock, crypto } = this.#deps;
    const about = {
      receipt_id: receiptId,
      receipt_hash: sha256Of(crypto, jws),
      checkpoint_hash: checkpoint.hash,
    };
    return this.#signatures.get(
      Object.values(about).join(' '),
      tenant,
      performance.now() + SIGNING_MS,
      (signer) =>
        signAttestation(
          { iss: identity.did, ...about, iat: Math.floor(dateOf(checkpoint, clock.nowMs()) / 1000) },
          signer,
        ),
    );
  }

  /** The attestation as a compact JWS; null when both keys are valid for the dates at which they signed. */
  async attestWhereNeeded(
    receipt: StoredReceipt,
    checkpoint: CheckpointRecord,
    tenant: Tenant,
  ): Promise<string | null> {
    const { identity } = this.#deps;
    const kid = kidOfJws(receipt.jws, RECEIPT_JWS_MAX_CHARS);
    if (kid === null) return null;
    const { receiptKeys } = identityOfKey(identity, kid);
    const { statusKeys } = identityOfKey(identity, checkpoint.kid);
    const isTimely =
      findUntimelyKey(receiptKeys, kid, evaluatedAtMsOf(receipt.receiptId)) === null &&
      findUntimelyKey(statusKeys, checkpoint.kid, closedAt(checkpoint)) === null;
    return isTimely ? null : this.attest(receipt, checkpoint, tenant);
  }
}

/** The attestation of a Receipt; `pending` until its day is closed. `NOT_FOUND` for a Receipt that does not exist. */
export const getAttestation = async (
  { store }: Pick<ServiceDeps, 'store'>,
  attestor: Attestor,
  tenant: Tenant,
  receiptId: ReceiptId,
): Promise<AttestationAnswer> => {
  const day = dayOfReceipt(receiptId);
  const receipt = day === null ? null : await store.receipts.find(receiptId);
  if (day === null || receipt === null) throw notFound(`No decision ${receiptId}.`);
  const checkpoint = await store.checkpoints.find(day);
  if (checkpoint === null) return { kind: 'pending', day };
  return { kind: 'attested', day, attestation: await attestor.attest(receipt, checkpoint, tenant) };
};

/**
 * Time of the attestation, in milliseconds. When the day was closed by a clock that ran ahead, the attestation is dated
 * near the checkpoint: readers refuse one that is dated long before its checkpoint.
 */
const dateOf = (checkpoint: CheckpointRecord, nowMs: number): number =>
  Math.max(nowMs, closedAt(checkpoint) - MAX_AHEAD_MS || 0);

const closedAt = ({ jws }: CheckpointRecord): number => {
  const signed = parseSignedCheckpoint(jws);
  return signed.ok ? signed.signedAtMs : Number.NaN;
};
