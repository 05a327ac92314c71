/** A decision with everything needed to check it offline, years later; `@svc/receipts/bundle` verifies it. */
import { kidOfJws } from '@svc/codec';
import type { DidWeb, ReceiptBody, ReceiptId, Sha256 } from '@svc/protocol';
import { RECEIPT_JWS_MAX_CHARS } from '@svc/receipts';
import type { Caller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import { getDecision } from '../decisions/get-decision.ts';
import type { ServiceDeps } from '../deps.ts';
import { internal } from '../errors.ts';
import type { Day } from '../ports/checkpoints.ts';
import type { EvidenceRecord } from '../ports/evidence.ts';
import { buildServiceDidDocument, identityOfKey } from '../service-keys/service-identity.ts';
import type { Attestor } from './attest.ts';
import { getInclusion, type InclusionAnswer } from './prove-inclusion.ts';

export type BundleAnswer =
  | { readonly kind: 'pending'; readonly day: Day }
  | {
      readonly kind: 'bundled';
      /** The Receipt as JSON text. */
      readonly receiptText: string;
      readonly inclusion: Extract<InclusionAnswer, { readonly kind: 'proven' }>;
      /** The compact JWS, present when a key that signed is not in force any more. */
      readonly attestation: string | null;
      /** The DID document, as JSON text, of the service's DID that signed the Receipt. */
      readonly didDocument: string;
      readonly evidence: readonly EvidenceRecord[];
    };

/** The bundle of a decision that the caller may read; `pending` until its day is closed. */
export const getBundle = async (
  deps: ServiceDeps,
  attestor: Attestor,
  caller: Caller,
  receiptId: ReceiptId,
  askedRp: DidWeb | undefined,
): Promise<BundleAnswer> => {
  const { receiptText, jws } = await getDecision(deps, caller, receiptId, askedRp);
  const inclusion = await getInclusion(deps, receiptId);
  if (inclusion.kind === 'pending') return inclusion;
  const hashes = evidenceOf(JSON.parse(receiptText) as ReceiptBody);
  const evidence = await Promise.all(hashes.map((hash) => getEvidence(deps, hash)));
  const attestation = await attestor.attestWhereNeeded(
    { receiptId, jws },
    inclusion.checkpoint,
    tenantOf(caller),
  );
  const didDocument = buildServiceDidDocument(
    identityOfKey(deps.identity, kidOfJws(jws, RECEIPT_JWS_MAX_CHARS) ?? ''),
  );
  return { kind: 'bundled', receiptText, inclusion, attestation, didDocument, evidence };
};

/** Everything public that a Receipt names by hash (protocol §8). */
export const evidenceOf = ({ evidence, protocol }: ReceiptBody): readonly Sha256[] => [
  evidence.trust_config_hash,
  protocol.profile_hash,
  ...(evidence.issuer_resolution === undefined ? [] : [evidence.issuer_resolution.did_document_hash]),
  ...(evidence.status === undefined ? [] : [evidence.status.credential_hash]),
];

const getEvidence = async ({ store }: ServiceDeps, hash: Sha256): Promise<EvidenceRecord> => {
  const evidence = await store.evidence.find(hash);
  if (evidence === null) throw internal(`a stored Receipt names ${hash}, which is not kept`);
  return evidence;
};
