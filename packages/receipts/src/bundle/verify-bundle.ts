/**
 * Verifies a bundle offline: Receipt, inclusion proof, checkpoint, the service's DID document and the evidence in one
 * JSON file. Checks each part, and that all parts belong to the same Receipt.
 */

import { addFailures, failure, member, plainObject, show } from '@svc/codec';
import {
  type CryptoPort,
  isJsonObject,
  type JsonObject,
  parseStrictJson,
  portableCrypto,
} from '@svc/protocol';
import {
  type Checkpoint,
  readServiceKeys,
  type VerifiedAttestation,
  verifyReceiptInclusion,
} from '@svc/transparency';
import type { Assumption } from '../audit/assumed-facts.ts';
import type { Failure } from '../failure.ts';
import type { Receipt } from '../receipt.ts';
import { findDoubt, findOther, isAttested, readUndecided } from '../verify/verify-included.ts';
import { verifySigned } from '../verify/verify-receipt.ts';
import { checkEvidence } from './evidence.ts';
import type { BundleFailureCode } from './failure.ts';
import { assertPinned, type BundlePin, checkPinned, timesOf, type UsedKey } from './pin.ts';

/** The maximum length of a bundle, in characters. */
export const BUNDLE_MAX_CHARS = 16 * 1_048_576;

type Failures = Failure<BundleFailureCode>[];

/** What a bundle proves, or everything that is wrong with it. */
export type VerifiedBundle =
  | {
      readonly ok: true;
      /** Read from the signed bytes, like the checkpoint. */
      readonly receipt: Receipt;
      /**
       * The id of the key that the Receipt names. If there is an `attestation`, only a pinned DID document
       * authenticates that key; under other pins the service may never have had it.
       */
      readonly kid: string;
      /**
       * The service's attestation of this Receipt, by a key that is pinned or else assumed; null if the bundle has
       * none.
       */
      readonly attestation: VerifiedAttestation | null;
      readonly checkpoint: Checkpoint;
      /** The artifacts that are text, by hash: usable as the `evidence` of `audit`. */
      readonly evidence: ReadonlyMap<string, string>;
      /**
       * What could not be authenticated. Empty with a pinned DID document, or with pinned keys that have purposes and
       * times.
       */
      readonly assumed: readonly Assumption[];
    }
  | {
      readonly ok: false;
      /** Paths are JSON pointers into the bundle. */
      readonly failures: readonly Failure<BundleFailureCode>[];
    };

/**
 * Verifies a bundle, an object or its text, with up to 16 items of `evidence`. All faults are in `failures`; if there
 * are more than a hundred unknown or differing members, one failure counts the rest. Throws TypeError if nothing is
 * pinned, or a pinned key has an invalid purpose or time.
 *
 * Only a result without assumptions says who wrote the bundle. With a DID alone, `ok` means that the bundle is
 * consistent. With keys alone, it means that a holder of one of them wrote it, who may have obtained the key after its
 * end.
 * @example
 * const verified = verifyBundle(bundle, { serviceDidDocument: didDocument });
 * if (verified.ok && verified.assumed.length === 0) console.log(verified.receipt.decision, verified.checkpoint.day);
 */
export const verifyBundle = (
  bundle: unknown,
  pin: BundlePin,
  crypto: CryptoPort = portableCrypto,
): VerifiedBundle => {
  assertPinned(pin);
  const failures: Failures = [];
  const parts = readParts(bundle, failures);
  if (parts === null) return { ok: false, failures };
  const document = 'serviceDidDocument' in pin ? pin.serviceDidDocument : parts.did_document;
  const read = readServiceKeys(document, timesOf(pin));
  // If the document is unreadable, each check that needs it reports that.
  const serviceDidDocument = read.ok ? read.keys : document;
  const options = pin.serviceDid === undefined ? { crypto } : { crypto, serviceDid: pin.serviceDid };

  const verified = verifySigned(parts.receipt, serviceDidDocument, options);
  if (!verified.ok)
    addFailures(
      failures,
      verified.failures.map((one) => within(one, '/receipt')),
    );
  const evidence = checkEvidence(parts.evidence, verified.ok ? verified.receipt : null, crypto, failures);
  // Then the document came with the bundle, so an unreadable document, or a missing key in it, is a fault of the
  // bundle.
  const isOwn = !('serviceDidDocument' in pin);
  if (!read.ok && isOwn)
    failures.push(failure('malformed-bundle', 'its did_document is none', '/did_document'));
  const undecided = verified.ok ? null : readUndecided(parts.receipt, verified.failures);
  const receiptId = verified.ok ? verified.receipt.receipt_id : undecided?.receiptId;
  const included =
    receiptId === undefined || !read.ok
      ? null
      : verifyReceiptInclusion({
          receiptId,
          inclusion: parts.inclusion,
          checkpoint: parts.checkpoint,
          attestation: parts.attestation,
          serviceDidDocument,
          ...options,
        });
  if (included?.ok === false)
    addFailures(
      failures,
      included.failures.map((one) => within(one, '/inclusion')),
    );
  if (isOwn && failures.some(({ code }) => code === 'unknown-key')) failures.unshift(LACKS_KEY);
  if (!read.ok || !included?.ok) return { ok: false, failures };
  if (!verified.ok) {
    const other = undecided === null ? null : findOther(included.attestation, undecided.jws, crypto);
    if (other !== null) failures.push(other);
    return { ok: false, failures };
  }
  const { receipt, kid } = verified;
  const doubt = findDoubt(included.attestation, verified, crypto);
  if (doubt !== null) failures.push(within(doubt, '/receipt'));
  const used = usedKeys(kid, included, isAttested(included.attestation, verified, crypto));
  const assumed = checkPinned(pin, read.keys, used, failures);
  if (failures.length > 0) return { ok: false, failures };
  const { checkpoint, attestation } = included;
  return { ok: true, receipt, kid, attestation, checkpoint, evidence, assumed };
};

const LACKS_KEY = failure(
  'malformed-bundle',
  'its did_document does not have each key that it is signed by',
  '/did_document',
);

/** The keys that the result depends on. An attested Receipt depends on the key of the attestation, not on its own. */
const usedKeys = (
  kid: string,
  included: { readonly kid: string; readonly attestation: VerifiedAttestation | null },
  receiptIsAttested: boolean,
): readonly UsedKey[] => [
  ...(receiptIsAttested ? [] : [{ kid, purpose: 'receipt' as const }]),
  { kid: included.attestation?.kid ?? included.kid, purpose: 'status' },
];

const PARTS = ['receipt', 'inclusion', 'checkpoint', 'did_document', 'evidence'] as const;

/**
 * The parts of the bundle, with `attestation` if there is one; a bundle has it only where it is needed. Other unknown
 * members are ignored.
 */
const readParts = (
  bundle: unknown,
  failures: Failures,
): Readonly<Record<(typeof PARTS)[number] | 'attestation', unknown>> | null => {
  const json = readObject(bundle);
  if (json === null) {
    failures.push(
      failure(
        'malformed-bundle',
        `a bundle must be a JSON object, nested no deeper than 32, not ${show(bundle)}`,
        '',
      ),
    );
    return null;
  }
  if (member(json, 'status') === 'pending' && PARTS.every((name) => member(json, name) === undefined)) {
    const day = show(member(json, 'day'));
    failures.push(
      failure('inclusion-pending', `the day ${day} is not closed yet: ask for the bundle later`, ''),
    );
    return null;
  }
  const [receipt, inclusion, checkpoint, didDocument, evidence] = PARTS.map((name) => member(json, name));
  for (const name of PARTS)
    if (member(json, name) === undefined)
      failures.push(failure('missing-member', `/${name} is missing`, `/${name}`));
  if (failures.length > 0) return null;
  const attestation = member(json, 'attestation');
  return { receipt, inclusion, checkpoint, attestation, did_document: didDocument, evidence };
};

const readObject = (bundle: unknown): JsonObject | null => {
  if (typeof bundle !== 'string') return plainObject(bundle);
  const parsed = bundle.length > BUNDLE_MAX_CHARS ? null : parseStrictJson(bundle);
  return parsed?.ok === true && isJsonObject(parsed.value) ? parsed.value : null;
};

/**
 * A failure of one part, with its pointer into the bundle. The attestation is a part of its own, so its pointer stays.
 */
const within = (one: Failure<BundleFailureCode>, part: string): Failure<BundleFailureCode> =>
  one.path === undefined || one.path === '/attestation' ? one : { ...one, path: `${part}${one.path}` };
