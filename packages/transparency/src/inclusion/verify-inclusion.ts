/**
 * Verifies offline that a Receipt is in the checkpoint of its day (interface §Transparency, protocol §12). Size and
 * root come from the signed checkpoint, the leaf from the Receipt's id; the proof's own values must agree.
 */

import {
  type CryptoPort,
  type Failure,
  failure,
  isJsonObject,
  member,
  parseStrictJson,
  plainObject,
  portableCrypto,
  show,
} from '@svc/codec';
import { formatHash, parseHash, verifyInclusion } from '@svc/merkle';
import { findOtherCheckpoint, type VerifiedAttestation, verifyAttestation } from '../attestation.ts';
import { findCheckpointDifference } from '../checkpoint/chain.ts';
import { dayOfReceipt, leafOfReceipt } from '../checkpoint/day.ts';
import { parseSignedCheckpoint } from '../checkpoint/jws.ts';
import type { Checkpoint } from '../checkpoint/payload.ts';
import { openServiceKeys, type ServiceKeys } from '../service-keys.ts';
import { type CheckpointSource, readCheckpoint, verifyCheckpointSource } from './checkpoint-record.ts';
import type { InclusionFailureCode } from './failure.ts';
import { readGivenText } from './given-text.ts';
import { type InclusionRecord, parseInclusion } from './inclusion-record.ts';

type Failures = Failure<InclusionFailureCode>[];

/** The maximum length of an inclusion proof, in characters. */
export const INCLUSION_MAX_CHARS = 65_536;

/** The proof that a Receipt is in the checkpoint of its day, and what it is verified with. */
export interface InclusionToVerify {
  /** The id of a verified Receipt. */
  readonly receiptId: string;
  /** The answer of `GET /decisions/{receipt_id}/inclusion`, an object or its text. */
  readonly inclusion: unknown;
  /**
   * The day's checkpoint from another source: a Checkpoint, its text or its JWS. It must be the one in the proof.
   * Without it, the one in the proof is used, and a service that shows two readers different checkpoints goes
   * undetected.
   */
  readonly checkpoint?: unknown;
  /**
   * The answer of `GET /decisions/{receipt_id}/attestation`, an object or its text, or the JWS in it: a statement about
   * the Receipt and its checkpoint by a key in force.
   */
  readonly attestation?: unknown;
  /** The service's pinned DID document, as an object or its text, or the result of `readServiceKeys` for it. */
  readonly serviceDidDocument: unknown;
  /** The DID that the pinned document must have. */
  readonly serviceDid?: string;
  /** Default: portable JavaScript. */
  readonly crypto?: CryptoPort;
}

/** The checkpoint that contains the Receipt, or all faults. */
export type VerifiedInclusion =
  | {
      readonly ok: true;
      /** Read from the signed bytes. */
      readonly checkpoint: Checkpoint;
      readonly kid: string;
      readonly leafIndex: number;
      /** The service's attestation of this Receipt, by a key in force; null if none was given. */
      readonly attestation: VerifiedAttestation | null;
    }
  | { readonly ok: false; readonly failures: readonly Failure<InclusionFailureCode>[] };

/**
 * Verifies the proof. Never throws: all faults are in `failures`, with JSON pointers into the proof; faults of the
 * attestation have the pointer `/attestation`.
 * @example
 * const receiptId = 'drc_01M7VZGC008Q2R7V9X1C4E6H8K';
 * const verified = verifyReceiptInclusion({ receiptId, inclusion, serviceDidDocument: didDocument });
 */
export const verifyReceiptInclusion = (input: InclusionToVerify): VerifiedInclusion => {
  const failures: Failures = [];
  const keys = openServiceKeys(input.serviceDidDocument, failures, input.serviceDid);
  const record = parseInclusion(readJson(input.inclusion), input.inclusion, failures);
  const source = findSource(record, input.checkpoint, failures);
  const crypto = input.crypto ?? portableCrypto;
  const attestation = readAttestation(input, source, { keys, crypto, failures });
  const signed = source && verifyCheckpointSource(source, keys, crypto, failures, attestation !== null);
  if (record !== null) checkReceipt(record, input.receiptId, failures);
  if (record !== null && signed !== null) checkAgainst(record, input.receiptId, signed.checkpoint, failures);
  if (record !== null && signed !== null && record.kid !== signed.kid)
    failures.push(
      failure('contradiction', `/kid must be ${signed.kid}, which signed the checkpoint`, '/kid'),
    );
  if (failures.length > 0 || record === null || signed === null) return { ok: false, failures };
  return {
    ok: true,
    checkpoint: signed.checkpoint,
    kid: signed.kid,
    leafIndex: record.leaf_index,
    attestation,
  };
};

interface Checking {
  readonly keys: ServiceKeys | null;
  readonly crypto: CryptoPort;
  readonly failures: Failures;
}

const readAttestation = (
  { attestation: given, receiptId }: InclusionToVerify,
  source: CheckpointSource | null,
  { keys, crypto, failures }: Checking,
): VerifiedAttestation | null => {
  if (given === undefined || keys === null || source === null) return null;
  const refuse = (message: string): null => {
    failures.push(failure('wrong-attestation', message, '/attestation'));
    return null;
  };
  const jws = findAttestation(given);
  if (jws === null) return refuse(`the attestation must be a JWS, not ${show(given)}`);
  const attested = verifyAttestation(jws, keys, crypto);
  if (!attested.ok) {
    failures.push(...attested.failures.map(({ code, message }) => failure(code, message, '/attestation')));
    return null;
  }
  const { receipt_id: attestedId } = attested.attestation;
  if (attestedId !== receiptId) return refuse(`the attestation is of ${attestedId}, not of ${receiptId}`);
  const other = findOtherCheckpoint(attested.attestation, source.jws, crypto);
  return other === null ? attested.attestation : refuse(`the attestation ${other}`);
};

/** The JWS in an object, its text or the bare JWS; null if there is none. */
const findAttestation = (given: unknown): string | null => {
  const text = readGivenText(given);
  if (text !== null && !text.startsWith('{')) return text;
  const json = readJson(text ?? given);
  const jws = isJsonObject(json) ? member(json, 'attestation') : undefined;
  return typeof jws === 'string' ? jws : null;
};

const readJson = (given: unknown): unknown => {
  if (typeof given !== 'string') return plainObject(given);
  const parsed = given.length > INCLUSION_MAX_CHARS ? null : parseStrictJson(given);
  return parsed?.ok === true ? parsed.value : given;
};

/** The checkpoint that is used: the one given, or else the one in the proof. */
const findSource = (
  record: InclusionRecord | null,
  given: unknown,
  failures: Failures,
): CheckpointSource | null => {
  const own = record && { jws: record.checkpoint, record: null };
  if (given === undefined) return own;
  const source = readCheckpoint(given, failures);
  if (source !== null && own !== null && source.jws !== own.jws)
    failures.push(
      failure(
        'other-checkpoint',
        `the checkpoint given is not the one in the proof${describe(own.jws, source.jws)}`,
        '/checkpoint',
      ),
    );
  return source;
};

const describe = (ofProof: string, given: string): string => {
  const [a, b] = [parseSignedCheckpoint(ofProof), parseSignedCheckpoint(given)];
  const difference = a.ok && b.ok ? findCheckpointDifference(b.checkpoint, a.checkpoint) : null;
  if (difference === null) return '';
  return `: its ${difference.member} is ${show(difference.expected)}, in the proof ${show(difference.got)}`;
};

const checkReceipt = (record: InclusionRecord, receiptId: string, failures: Failures): void => {
  if (record.receipt_id !== receiptId)
    failures.push(
      failure('other-receipt', `the proof is of ${record.receipt_id}, not of ${receiptId}`, '/receipt_id'),
    );
  const leaf = formatHash(leafOfReceipt(receiptId));
  if (record.leaf !== leaf)
    failures.push(failure('wrong-leaf', `/leaf must be ${leaf}, not ${record.leaf}`, '/leaf'));
};

const checkAgainst = (
  record: InclusionRecord,
  receiptId: string,
  checkpoint: Checkpoint,
  failures: Failures,
): void => {
  const must = (name: 'day' | 'tree_size' | 'root') => {
    if (record[name] !== checkpoint[name])
      failures.push(
        failure(
          'contradiction',
          `/${name} must be ${checkpoint[name]} by the checkpoint, not ${record[name]}`,
          `/${name}`,
        ),
      );
  };
  must('day');
  must('tree_size');
  must('root');
  const day = dayOfReceipt(receiptId);
  if (day !== checkpoint.day)
    failures.push(
      failure('wrong-time', `${receiptId} is of ${day}, the checkpoint of ${checkpoint.day}`, '/day'),
    );
  if (!isIncluded(record, receiptId, checkpoint))
    failures.push(
      failure(
        'not-included',
        `the path does not lead from ${receiptId} to the root of ${checkpoint.day}`,
        '/audit_path',
      ),
    );
};

/** Whether the path leads from the Receipt's leaf to the signed root, with the signed size. */
const isIncluded = (record: InclusionRecord, receiptId: string, checkpoint: Checkpoint): boolean => {
  const { leaf_index: index, audit_path: steps } = record;
  const { first_receipt_id: first, last_receipt_id: last, tree_size: size } = checkpoint;
  // Leaves are ordered by id, so the signed first and last ids determine the outermost leaves.
  if ((index === 0) !== (receiptId === first) || (index === size - 1) !== (receiptId === last)) return false;
  const root = parseHash(checkpoint.root.slice('sha256:'.length));
  const path = steps.flatMap((step) => parseHash(step) ?? []);
  return (
    root !== null &&
    path.length === steps.length &&
    verifyInclusion({ leafHash: leafOfReceipt(receiptId), index, size, path }, root)
  );
};
