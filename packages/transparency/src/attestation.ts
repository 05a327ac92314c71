/**
 * The service's statement, by a key in force, about what it signed with a key that is no longer in force (protocol
 * §12): this Receipt, by the hash of its JWS, and this checkpoint are the stored ones. The leaves of a checkpoint cover
 * only ids. Without an attestation, the holder of a leaked key could sign other content under the id of an included
 * Receipt.
 */
import {
  type CryptoPort,
  type Failure,
  failure,
  isSha256,
  type JsonObject,
  member,
  type Signer,
  sha256Of,
  show,
  signCompactJws,
} from '@svc/codec';
import { parseSignedCheckpoint } from './checkpoint/jws.ts';
import { MAX_AHEAD_MS } from './key-time.ts';
import { readServiceJws } from './service-jws.ts';
import type { ServiceKeyFailureCode, ServiceKeys } from './service-keys.ts';

/** The `typ` of an attestation's protected header. */
export const ATTESTATION_TYP = 'svc-attestation+jwt';
const MAX_CHARS = 4096;

/** The payload of an attestation: the service has stored this Receipt and this checkpoint. */
export interface Attestation {
  /** The service's did:web DID. */
  readonly iss: string;
  readonly receipt_id: string;
  /** `sha256:…` over the Receipt's compact JWS. */
  readonly receipt_hash: string;
  /** `sha256:…` over the checkpoint's compact JWS. */
  readonly checkpoint_hash: string;
  /** Seconds since the epoch. */
  readonly iat: number;
}

/** An attestation with the id of the key that signed it. */
export type VerifiedAttestation = Attestation & { readonly kid: string };

/** `wrong-attestation`: it does not have the form of an attestation, or is of another service. */
export type AttestationFailure = Failure<ServiceKeyFailureCode | 'wrong-attestation'>;

/** The compact JWS, by a status key. Rejects with the signer's errors. */
export const signAttestation = (attestation: Attestation, signer: Signer): Promise<string> =>
  signCompactJws(signer, { typ: ATTESTATION_TYP }, { ...attestation });

/**
 * Verifies that the service signed this attestation with a key in force. Never throws: all faults are in `failures`.
 */
export const verifyAttestation = (
  text: string,
  keys: ServiceKeys,
  crypto: CryptoPort,
):
  | { readonly ok: true; readonly attestation: VerifiedAttestation }
  | { readonly ok: false; readonly failures: readonly AttestationFailure[] } => {
  const fail = (found: AttestationFailure) => ({ ok: false as const, failures: [found] });
  const refuse = (what: string) => fail(failure('wrong-attestation', `the attestation ${what}`));
  const jws = readServiceJws(text, ATTESTATION_TYP, MAX_CHARS);
  if (!jws.ok) return refuse(`must be a compact JWS: ${jws.problem}`);
  const { kid } = jws;
  if (kid === null) return refuse(`must have exactly the header alg EdDSA, kid and typ ${ATTESTATION_TYP}`);
  if (!isAttestation(jws.payload)) return refuse(`must say what it is about, not ${show(jws.payload)}`);
  const wrong = keys.check('status', { ...jws, kid, signedAtMs: jws.payload.iat * 1000 }, crypto);
  if (wrong !== null) return fail({ ...wrong, message: `the attestation: ${wrong.message}` });
  if (jws.payload.iss !== keys.did) return refuse(`must be of ${keys.did}`);
  return { ok: true, attestation: { ...jws.payload, kid } };
};

/** Why the attestation does not vouch for this checkpoint, a compact JWS, as the end of a sentence; null if it does. */
export const findOtherCheckpoint = (
  { checkpoint_hash: hash, iat }: Attestation,
  checkpoint: string,
  crypto: CryptoPort,
): string | null => {
  if (hash !== sha256Of(crypto, checkpoint)) return `is of the checkpoint ${hash}, not of this one`;
  const signed = parseSignedCheckpoint(checkpoint);
  // The thief of a key that has ended must date an attestation before that end. A later checkpoint cannot have been
  // stored at that date.
  const isBefore = signed.ok && iat * 1000 + MAX_AHEAD_MS < signed.signedAtMs;
  return isBefore ? `is dated before the checkpoint that it is of, ${signed.checkpoint.day}` : null;
};

const isAttestation = (payload: JsonObject): payload is JsonObject & Attestation =>
  Object.keys(payload).length === 5 &&
  typeof member(payload, 'iss') === 'string' &&
  typeof member(payload, 'receipt_id') === 'string' &&
  isSha256(member(payload, 'receipt_hash')) &&
  isSha256(member(payload, 'checkpoint_hash')) &&
  Number.isSafeInteger(member(payload, 'iat'));
