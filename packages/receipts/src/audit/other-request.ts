/**
 * Checks by hash, before the engine runs, that Grant, Proof and Action belong to the Receipt. If they do not, a
 * comparison would only list consequences of that.
 */

import { failure } from '@svc/codec';
import { type CryptoPort, type Presented, type ReceiptBody, requestHashOf, sha256Of } from '@svc/protocol';
import type { Failure } from '../failure.ts';

export type OtherRequestFailure = Failure<'other-grant' | 'other-proof' | 'other-action'>;

/** One failure for each of Grant, Proof and Action that does not belong to the Receipt. */
export const findOtherRequest = (
  body: ReceiptBody,
  given: { readonly grant: string; readonly proof: string },
  presented: Presented,
  crypto: CryptoPort,
): readonly OtherRequestFailure[] => {
  const grantHash = sha256Of(crypto, given.grant);
  const proofHash = sha256Of(crypto, given.proof);
  const failures: OtherRequestFailure[] = [];
  if (grantHash !== body.grant_hash) {
    const message = `the Grant given is not the one of this Receipt: its hash is ${grantHash}, not ${body.grant_hash}`;
    failures.push(failure('other-grant', message, '/grant_hash'));
  }
  if (proofHash !== body.proof_hash) {
    const message = `the Proof given is not the one of this Receipt: its hash is ${proofHash}, not ${body.proof_hash}`;
    failures.push(failure('other-proof', message, '/proof_hash'));
  } else if (isOtherAction(body, presented, crypto)) {
    const message = `the Action given is not the one of this Receipt: with the Proof it does not hash to ${body.request_hash}`;
    failures.push(failure('other-action', message, '/request_hash'));
  }
  return failures;
};

/** Decidable only with the Receipt's own Proof, and only if the Receipt has a `request_hash`. */
const isOtherAction = (
  { request_hash: hash, protocol }: ReceiptBody,
  { proof, action }: Presented,
  crypto: CryptoPort,
): boolean => {
  if (hash === undefined || !proof.ok) return false;
  if (!action.ok) return true;
  const hashWith = (of: typeof action.value) => requestHashOf(crypto, { ...proof.value, action: of });
  const given = hashWith(action.value);
  // According to the Receipt, the Proof is for the Receipt's Action. If the Proof is for the given Action instead, the
  // Receipt is wrong.
  return given !== hash && !(protocol.checks.P14 === true && hashWith(proof.value.action) === given);
};
