/**
 * Verifies a Receipt offline with the service's pinned DID document: form, signature and consistency (interface
 * §Receipt, protocol §7–§8). Uses no clock and no network, so a Receipt that verifies once always does.
 */

import { addFailures, checkShape, failure, show } from '@svc/codec';
import { type CryptoPort, type JsonObject, portableCrypto, type ReceiptBody } from '@svc/protocol';
import { openServiceKeys } from '@svc/transparency/service-keys';
import { canonicalTextOrNull } from '../canonical.ts';
import { listDifferences } from '../difference.ts';
import type { Failure } from '../failure.ts';
import type { Receipt } from '../receipt.ts';
import { RECEIPT_BODY_SHAPE } from './body-shape.ts';
import { checkConsistency } from './consistency.ts';
import { readKid, readPayload } from './receipt-jws.ts';
import { type ReceiptParts, readReceiptParts } from './receipt-parts.ts';

/** Options of the verification of a Receipt. */
export interface VerifyOptions {
  /** Default: portable JavaScript. `@svc/protocol/native` is some ten times faster on servers. */
  readonly crypto?: CryptoPort;
  /** The DID that the pinned document must have. */
  readonly serviceDid?: string;
}

/** The Receipt that the service signed, or all faults of the input. */
export type VerifiedReceipt =
  | {
      readonly ok: true;
      /** Read from the signed bytes; the other members of the input are only compared with it. */
      readonly receipt: Receipt;
      readonly decision: 'ALLOW' | 'DENY';
      /** The id of the service's key that signed it. */
      readonly kid: string;
    }
  | { readonly ok: false; readonly failures: readonly Failure[] };

/**
 * Verifies a Receipt, an object or its text, against the service's DID document: an object, its text, or the result of
 * `readServiceKeys`, which avoids parsing it again for each of many Receipts. Never throws: all faults are in
 * `failures`.
 *
 * `ok` means that the service signed exactly this and that it is consistent. It does not mean that the Receipt is for
 * your request (compare `request_hash`) or that it is an ALLOW.
 * @example
 * const verified = verifyReceipt(receipt, didDocument, { serviceDid: 'did:web:svc.example' });
 * if (verified.ok) console.log(verified.decision, verified.receipt.evaluated_at);
 * else console.error(verified.failures);
 */
export const verifyReceipt = (
  receipt: unknown,
  serviceDidDocument: unknown,
  options: VerifyOptions = {},
): VerifiedReceipt => {
  const signed = verifySigned(receipt, serviceDidDocument, options);
  if (!signed.ok) return signed;
  const { untimely, ...verified } = signed;
  return untimely === null ? verified : { ok: false, failures: [untimely] };
};

/** A Receipt without faults, except perhaps that its key was not in force at its date or is compromised. */
export type SignedAtAnyTime =
  | (Extract<VerifiedReceipt, { readonly ok: true }> & { readonly untimely: Failure | null })
  | Extract<VerifiedReceipt, { readonly ok: false }>;

export const verifySigned = (
  receipt: unknown,
  serviceDidDocument: unknown,
  { serviceDid, crypto = portableCrypto }: VerifyOptions,
): SignedAtAnyTime => {
  const failures: Failure[] = [];
  const keys = openServiceKeys(serviceDidDocument, failures, serviceDid);
  const presented = readReceiptParts(receipt, failures);
  if (presented === null) return { ok: false, failures };
  const body = readBody(presented, failures);
  const { jws, parts } = presented;
  const kid = parts && readKid(parts.headerText, failures);
  // Without a valid body there is no date, and the body's faults are reported anyway.
  const signedAtMs = body === null ? null : Date.parse(body.evaluated_at);
  const wrong = parts && kid !== null ? keys?.check('receipt', { ...parts, kid, signedAtMs }, crypto) : null;
  const untimely = wrong?.code === 'key-not-in-force' ? describeUntimely(wrong) : null;
  if (wrong && untimely === null) failures.push(wrong);
  if (failures.length > 0 || body === null || jws === null || kid === null) return { ok: false, failures };
  return { ok: true, receipt: { ...body, receipt: jws }, decision: body.decision, kid, untimely };
};

const describeUntimely = ({ code, message }: Failure): Failure =>
  failure(
    code,
    `${message}: it takes the inclusion proof of this Receipt and the service's attestation, GET /decisions/{receipt_id}/inclusion and /attestation`,
    '/evaluated_at',
  );

/** Checks the form and the consistency of a Receipt, but not its signature. */
export const parseReceipt = (
  receipt: unknown,
):
  | { readonly ok: true; readonly receipt: Receipt }
  | { readonly ok: false; readonly failures: readonly Failure[] } => {
  const failures: Failure[] = [];
  const presented = readReceiptParts(receipt, failures);
  const body = presented && readBody(presented, failures);
  const jws = presented?.jws ?? null;
  if (failures.length > 0 || body === null || jws === null) return { ok: false, failures };
  return { ok: true, receipt: { ...body, receipt: jws } };
};

/** The signed body. Its faults, and its differences from the members given beside it, are added to `failures`. */
const readBody = ({ jws, parts, body: shown }: ReceiptParts, failures: Failure[]): ReceiptBody | null => {
  if (parts === null && jws !== null)
    failures.push(
      failure(
        'malformed-jws',
        'receipt must be three base64url parts in canonical form, joined by dots',
        '/receipt',
      ),
    );
  const shownText = shown && canonicalTextOrNull(shown);
  const same = shownText === parts?.payloadText;
  // A body that equals the output of our own serialiser needs no check that it is canonical.
  const signed = parts && readPayload(parts.payloadText, failures, same);
  if (signed === null) {
    if (shown !== null) checkBody(shown, failures);
    return null;
  }
  // The differences are reported first; then the faults found so far.
  if (shown !== null && !same) {
    const others = failures.splice(0);
    addFailures(failures, listMismatches(signed, shown));
    addFailures(failures, others);
  }
  return checkBody(signed, failures) ? (signed as unknown as ReceiptBody) : null;
};

const checkBody = (body: JsonObject, failures: Failure[]): boolean => {
  const found: Failure[] = [];
  checkShape(body, RECEIPT_BODY_SHAPE, { what: 'Receipt', failures: found });
  checkConsistency(body as unknown as ReceiptBody, found);
  addFailures(failures, found);
  return found.length === 0;
};

/** The maximum number of differences that are reported one by one: the members beside the JWS may be any number. */
const MAX_MISMATCHES = 100;

const listMismatches = (signed: JsonObject, shown: JsonObject): Failure[] => {
  const differences = listDifferences(signed, shown);
  if (differences.length === 0)
    return [failure('payload-mismatch', 'the Receipt must be the JSON that was signed', '')];
  const told = differences
    .slice(0, MAX_MISMATCHES)
    .map(({ path, expected, got }) =>
      failure(
        'payload-mismatch',
        `${path} must be ${shownOr(expected)} as signed, not ${shownOr(got)}`,
        path,
      ),
    );
  const more = differences.length - told.length;
  if (more > 0) told.push(failure('payload-mismatch', `${more} more must be as signed`, ''));
  return told;
};

const shownOr = (value: unknown): string => (value === undefined ? 'absent' : show(value));
