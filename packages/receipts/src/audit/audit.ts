/**
 * The audit runs the engine again on the inputs of a decision and compares the results (protocol §7–§8). Facts proven
 * by artifacts are verified; facts that only the service knew are assumed as stated and reported.
 */

import { failure, plainObject, show } from '@svc/codec';
import {
  buildReceiptBody,
  type CryptoPort,
  type Decided,
  evaluate,
  type Facts,
  found,
  isProfileId,
  type JsonObject,
  PROFILES,
  PROOF_WINDOW_MAX_SECONDS,
  type Presented,
  parsePresented,
  portableCrypto,
  type ReceiptBody,
} from '@svc/protocol';
import type { InclusionFailureCode, VerifiedAttestation } from '@svc/transparency';
import { readServiceKeys } from '@svc/transparency/service-keys';
import { type Difference, listDifferences } from '../difference.ts';
import type { Failure, FailureCode } from '../failure.ts';
import type { Receipt } from '../receipt.ts';
import { verdictOf } from '../verdict.ts';
import {
  type IncludedReceipt,
  type IncludedToVerify,
  verifyIncludedReceipt,
} from '../verify/verify-included.ts';
import { type VerifiedReceipt, type VerifyOptions, verifyReceipt } from '../verify/verify-receipt.ts';
import { type ArtifactFailure, type EvidenceSource, readArtifacts } from './artifacts.ts';
import { assumeBudgets } from './assumed-budgets.ts';
import { type Assumption, assumeFacts, assumeRetiredKey, type KnownFacts } from './assumed-facts.ts';
import { findOtherRequest, type OtherRequestFailure } from './other-request.ts';

/** All faults of a Receipt and of the inputs of its decision. */
export type AuditFailureCode =
  | FailureCode
  | InclusionFailureCode
  | ArtifactFailure['code']
  | OtherRequestFailure['code']
  /** `relyingParty.proofWindowSeconds` is no proof window that a relying party can have. */
  | 'missing-proof-window';

/**
 * A Receipt, and the inputs of its decision, from which the audit computes it again. With `inclusion`, the Receipt is
 * verified as `verifyIncludedReceipt` does. A Receipt whose key was compromised, or was not in force at its date,
 * verifies in no other way, and also needs `attestation`.
 */
export interface AuditInput
  extends Partial<Pick<IncludedToVerify, 'inclusion' | 'checkpoint' | 'attestation'>> {
  /** An object or its text. */
  readonly receipt: unknown;
  /** The service's pinned DID document, as an object or its text, or the result of `readServiceKeys` for it. */
  readonly serviceDidDocument: unknown;
  /** As presented, character for character. */
  readonly grant: string;
  /** As presented, character for character. */
  readonly proof: string;
  /**
   * The Action that the relying party sent. If its text is not strict JSON, for example because it has a fraction, give
   * `{}`; for `-0` give `0`. The service reads such texts so (protocol §5).
   */
  readonly action: unknown;
  /** The relying party's setting at the time, 1 to 300 s. Nothing else of it is read. */
  readonly relyingParty: { readonly proofWindowSeconds: number };
  /** DID document and status list, by hash. */
  readonly evidence: EvidenceSource;
  /**
   * For an ALLOW that consumed: answers of `GET /grants/{id}/consumption`, back to the first event. Alternatively the
   * evidence can contain the snapshot itself.
   */
  readonly consumption?: readonly unknown[];
  /** Facts that need not be assumed. */
  readonly facts?: KnownFacts;
  readonly crypto?: CryptoPort;
  readonly serviceDid?: string;
}

/**
 * The result of an audit. If both `ok` and `undecided` are false, the Receipt is wrong, and the other members say
 * where.
 */
export interface AuditResult {
  /** The Receipt verifies, and the engine computes exactly the same body. */
  readonly ok: boolean;
  /**
   * An input of the engine is missing, or only a later version or a newer document can verify it: the Receipt is
   * neither proven right nor wrong.
   */
  readonly undecided: boolean;
  /** Null if the Receipt does not verify. */
  readonly receipt: Receipt | null;
  /** The id of the key that the Receipt names, like `VerifiedBundle.kid`; null if the Receipt does not verify. */
  readonly kid: string | null;
  /** The service's verified attestation of this Receipt; null if none was given or the Receipt does not verify. */
  readonly attestation: VerifiedAttestation | null;
  readonly failures: readonly Failure<AuditFailureCode>[];
  /**
   * Empty if Grant, Proof or Action does not belong to the Receipt. `expected` is the engine's value, `got` the
   * Receipt's.
   */
  readonly differences: readonly Difference[];
  /** Everything that the audit assumed because only the service knew it. */
  readonly assumed: readonly Assumption[];
}

/**
 * Audits a Receipt. Never throws on any input, except what `evidence` throws if it is a function.
 * @example
 * const relyingParty = { proofWindowSeconds: 60 };
 * const input = { receipt, serviceDidDocument: didDocument, grant, proof, action, relyingParty, evidence };
 * const { ok, differences, assumed } = audit(input);
 */
export const audit = (input: AuditInput): AuditResult => auditRead(readInput(input));

const auditRead = (input: ReturnType<typeof readInput>): AuditResult => {
  const crypto = input.crypto ?? portableCrypto;
  const options = input.serviceDid === undefined ? { crypto } : { crypto, serviceDid: input.serviceDid };
  const read = readServiceKeys(input.serviceDidDocument);
  const verified = verify(input, read.ok ? read.keys : input.serviceDidDocument, options);
  if (!verified.ok || !read.ok) {
    const wrong = verified.ok ? [] : verified.failures;
    return refuse(null, wrong, verdictOf(wrong) === 'undecided');
  }
  const { receipt: jws, ...body } = verified.receipt;
  if (!runsHere(body)) return refuse(verified, [otherEngine(body)], true);
  const presented = parsePresented(input);
  const others = findOtherRequest(body, input, presented, crypto);
  if (others.length > 0) return refuse(verified, others);
  if (!isProofWindow(input.proofWindowSeconds))
    return refuse(verified, [missingProofWindow(input.proofWindowSeconds)], true);
  const failures: ArtifactFailure[] = [];
  const artifacts = readArtifacts(
    body,
    presented,
    {
      source: input.evidence,
      consumption: input.consumption,
      balancesKnown: input.facts?.balances !== undefined,
      ...{ serviceKeys: read.keys, crypto },
    },
    failures,
  );
  if (failures.length > 0) {
    const given = failures.filter(({ code }) => code !== 'missing-evidence');
    return refuse(verified, failures, verdictOf(given) !== 'invalid');
  }
  const { recomputed, assumed } = recompute(body, presented, artifacts, input, crypto);
  const differences = listDifferences(asJson(recomputed), asJson(body));
  return {
    ok: differences.length === 0,
    undecided: false,
    receipt: { ...body, receipt: jws },
    kid: verified.kid,
    attestation: attestationOf(verified),
    failures: [],
    differences,
    assumed,
  };
};

/** Corrects types that a caller without type checks may pass: a value that is not a text is taken as an empty one. */
const readInput = (input: AuditInput) => ({
  ...input,
  ...{ grant: textOf(input.grant), proof: textOf(input.proof), action: plainObject(input.action) },
  evidence: input.evidence ?? {},
  consumption: Array.isArray(input.consumption) ? input.consumption : [],
  proofWindowSeconds: input.relyingParty?.proofWindowSeconds,
});

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const verify = (
  { receipt, inclusion, checkpoint, attestation }: AuditInput,
  serviceDidDocument: unknown,
  options: VerifyOptions,
): VerifiedReceipt | IncludedReceipt =>
  inclusion === undefined
    ? verifyReceipt(receipt, serviceDidDocument, options)
    : verifyIncludedReceipt({ receipt, inclusion, checkpoint, attestation, serviceDidDocument, ...options });

const refuse = (
  verified: Verified | null,
  failures: readonly Failure<AuditFailureCode>[],
  undecided = false,
): AuditResult => ({
  ...{ ok: false, undecided, failures, differences: [], assumed: [] },
  ...{ receipt: verified?.receipt ?? null, kid: verified?.kid ?? null },
  attestation: verified === null ? null : attestationOf(verified),
});

type Verified = Extract<VerifiedReceipt | IncludedReceipt, { readonly ok: true }>;

const attestationOf = (verified: Verified): VerifiedAttestation | null =>
  'included' in verified ? verified.included.attestation : null;

const asJson = (body: ReceiptBody): JsonObject => body as unknown as JsonObject;

const runsHere = ({ protocol: { profile, profile_hash: hash } }: ReceiptBody): boolean =>
  isProfileId(profile) && PROFILES[profile].hash === hash;

const otherEngine = ({ protocol: { profile, profile_hash: hash } }: ReceiptBody): Failure =>
  failure('unknown-profile', `this version cannot run ${profile} as of ${hash}`, '/protocol/profile_hash');

const isProofWindow = (seconds: number): boolean =>
  Number.isInteger(seconds) && seconds >= 1 && seconds <= PROOF_WINDOW_MAX_SECONDS;

const missingProofWindow = (given: unknown): Failure<'missing-proof-window'> =>
  failure(
    'missing-proof-window',
    `relyingParty.proofWindowSeconds must be the proof window that the relying party had then, an integer from 1 to ${PROOF_WINDOW_MAX_SECONDS}, not ${show(given)}`,
    '/protocol/checks/P13',
  );

interface Recomputed {
  readonly recomputed: ReceiptBody;
  readonly assumed: readonly Assumption[];
}

const recompute = (
  body: ReceiptBody,
  presented: Presented,
  artifacts: Pick<Facts, 'document' | 'status' | 'balances'>,
  input: ReturnType<typeof readInput>,
  crypto: CryptoPort,
): Recomputed => {
  const { proofWindowSeconds } = input;
  const relyingParty = { did: body.relying_party, profile: body.protocol.profile, proofWindowSeconds };
  const context = { relyingParty, nowMs: Date.parse(body.evaluated_at), crypto, receiptId: body.receipt_id };
  const run = (facts: Facts): Decided => {
    const decided = evaluate(presented, facts, context);
    // All look-ups were answered, so this would be a bug in this module.
    if (decided.kind === 'undecided') throw new Error('a look-up was left unanswered');
    return decided;
  };
  const basis = assumeFacts(body, presented, input.facts ?? {});
  let { assumed } = basis;
  let facts: Facts = { ...basis.facts, ...artifacts };
  let decided = run(facts);
  if (input.facts?.principal === undefined && needsRetiredKey(body, decided)) {
    const retired = assumeRetiredKey(basis.facts, body);
    facts = { ...retired.facts, ...artifacts };
    decided = run(facts);
    assumed = [...assumed, ...retired.assumed];
  }
  if (input.facts?.balances === undefined && artifacts.balances === undefined) {
    const budgets = assumeBudgets(body, decided, (balances) => run({ ...facts, balances: found(balances) }));
    decided = budgets.decided;
    assumed = [...assumed, ...budgets.assumed];
  }
  return { recomputed: buildReceiptBody(input, decided, context), assumed };
};

const needsRetiredKey = (body: ReceiptBody, { outcomes }: Decided): boolean =>
  body.evidence.issuer_resolution !== undefined && outcomes.P2 === true && body.protocol.checks.P2 !== true;
