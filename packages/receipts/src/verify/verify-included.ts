/**
 * Verifies a Receipt together with the proof that it is in the checkpoint of its day (protocol §8, §12). If the
 * Receipt's key was not in force at the Receipt's date, or is compromised, the Receipt needs the service's attestation:
 * it says, under a key in force, that exactly this Receipt is the stored one.
 */
import { type CryptoPort, failure, member, portableCrypto, sha256Of } from '@svc/codec';
import { isJsonObject, isReceiptId, parseStrictJson, type ReceiptId } from '@svc/protocol';
import {
  type Attestation,
  type InclusionFailureCode,
  type InclusionToVerify,
  readServiceKeys,
  type VerifiedInclusion,
  verifyReceiptInclusion,
} from '@svc/transparency';
import type { Failure, FailureCode } from '../failure.ts';
import { verdictOf } from '../verdict.ts';
import { readReceiptParts } from './receipt-parts.ts';
import { type SignedAtAnyTime, type VerifiedReceipt, verifySigned } from './verify-receipt.ts';

/** A Receipt with the proof that it is in the checkpoint of its day. */
export interface IncludedToVerify extends Omit<InclusionToVerify, 'receiptId'> {
  /** An object or its text. */
  readonly receipt: unknown;
}

type Verified<T> = Omit<Extract<T, { readonly ok: true }>, 'ok'>;

/** A Receipt that verifies and is in the checkpoint of its day, or all faults of either. */
export type IncludedReceipt =
  | ({ readonly ok: true; readonly included: Verified<VerifiedInclusion> } & Verified<VerifiedReceipt>)
  | { readonly ok: false; readonly failures: readonly Failure<FailureCode | InclusionFailureCode>[] };

/**
 * Verifies the Receipt and the proof. Never throws: all faults are in `failures`.
 * @example
 * const verified = verifyIncludedReceipt({ receipt, inclusion, serviceDidDocument: didDocument });
 * if (verified.ok) console.log(verified.decision, verified.included.checkpoint.day);
 */
export const verifyIncludedReceipt = (input: IncludedToVerify): IncludedReceipt => {
  const { receipt: given, serviceDidDocument, ...inclusion } = input;
  const { crypto = portableCrypto } = inclusion;
  const read = readServiceKeys(serviceDidDocument);
  const document = read.ok ? read.keys : serviceDidDocument;
  const signed = verifySigned(given, document, inclusion);
  const include = (receiptId: ReceiptId) =>
    verifyReceiptInclusion({ ...inclusion, receiptId, serviceDidDocument: document });
  if (!signed.ok) {
    const undecided = read.ok ? readUndecided(given, signed.failures) : null;
    if (undecided === null) return signed;
    const beside = include(undecided.receiptId);
    const other = beside.ok ? findOther(beside.attestation, undecided.jws, crypto) : null;
    const more = beside.ok ? (other === null ? [] : [other]) : beside.failures;
    return { ok: false, failures: [...signed.failures, ...more] };
  }
  const included = include(signed.receipt.receipt_id);
  if (!included.ok) return included;
  const { receipt, decision, kid } = signed;
  const doubt = findDoubt(included.attestation, signed, crypto);
  if (doubt !== null) return { ok: false, failures: [doubt] };
  return { ok: true, receipt, decision, kid, included };
};

/**
 * The id and the JWS of a Receipt that cannot be decided here: a later version may know its rules, or a newer document
 * its key. The proof beside it is checked all the same, so that an altered proof is reported. Null if the Receipt
 * itself is wrong.
 */
export const readUndecided = (
  receipt: unknown,
  failures: readonly Failure[],
): { readonly receiptId: ReceiptId; readonly jws: string } | null => {
  if (verdictOf(failures) !== 'undecided') return null;
  const { jws = null, parts = null } = readReceiptParts(receipt, []) ?? {};
  const payload = parts === null ? null : parseStrictJson(parts.payloadText);
  const id = payload?.ok === true && isJsonObject(payload.value) ? member(payload.value, 'receipt_id') : null;
  return jws !== null && isReceiptId(id) ? { receiptId: id, jws } : null;
};

/** Whether the attestation is of exactly this Receipt. */
export const isAttested = (
  attestation: Attestation | null,
  { receipt: { receipt: jws } }: Pick<Verified<SignedAtAnyTime>, 'receipt'>,
  crypto: CryptoPort,
): boolean => attestation?.receipt_hash === sha256Of(crypto, jws);

/**
 * What is wrong with a Receipt that is included; null if nothing is. Either its key was not in force at its date, or is
 * compromised, and there is no attestation of it, or the attestation is of another Receipt.
 */
export const findDoubt = (
  attestation: Attestation | null,
  signed: Verified<SignedAtAnyTime>,
  crypto: CryptoPort,
): Failure<FailureCode | InclusionFailureCode> | null => {
  if (isAttested(attestation, signed, crypto)) return null;
  return signed.untimely ?? findOther(attestation, signed.receipt.receipt, crypto);
};

/**
 * A failure if the attestation is of another Receipt with this id. That proves that this Receipt was altered, whatever
 * its key. Otherwise null.
 */
export const findOther = (
  attestation: Attestation | null,
  jws: string,
  crypto: CryptoPort,
): Failure<'wrong-attestation'> | null => {
  if (attestation === null || attestation.receipt_hash === sha256Of(crypto, jws)) return null;
  const message = `the attestation is of the Receipt ${attestation.receipt_hash}, not of this one`;
  return failure('wrong-attestation', message, '/attestation');
};
