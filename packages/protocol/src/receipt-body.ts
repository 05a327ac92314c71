/**
 * The body of a Receipt: everything in it except its signature (interface §Receipt, protocol §8). Members are written
 * in RFC 8785 order, so `JSON.stringify` of the body is its canonical form.
 */

import {
  type CryptoPort,
  type DidKey,
  type DidWeb,
  formatTimestamp,
  type Sha256,
  sha256Of,
} from '@svc/codec';
import type { Consumption } from './budgets/consumption.ts';
import { snapshotHashOf } from './budgets/snapshot.ts';
import type { Decided, VerifyRequest } from './evaluate.ts';
import { type Action, canonicalAction } from './model/action.ts';
import { type Capability, inCanonicalOrder } from './model/capability.ts';
import type { GrantId, ReceiptId } from './model/ids.ts';
import type { ReasonCode } from './model/reason-code.ts';
import type { CheckGroup, CheckOutcome, ProfileId } from './profiles/index.ts';
import { TRUST_CONFIG, type TrustConfig, trustConfigDocument } from './trust-config.ts';

/** The `version` of a Receipt's body. */
export const RECEIPT_VERSION = 'svc-receipt-v1';

/**
 * A Receipt without its signature (interface §Receipt, protocol §8). The outcomes of the checks decide which members
 * are present.
 */
export interface ReceiptBody {
  readonly agent?: DidKey;
  readonly authority?: Capability | null;
  readonly decision: 'ALLOW' | 'DENY';
  readonly evaluated_at: string;
  readonly evidence: {
    /** The budget that this ALLOW consumed, and the balances before it. */
    readonly consumption?: {
      readonly key: Sha256;
      readonly snapshot_hash: Sha256;
      readonly version: number;
    };
    readonly issuer_resolution?: {
      readonly did: DidWeb;
      readonly did_document_hash: Sha256;
      readonly resolved_at: string;
    };
    readonly status?: {
      readonly checked_at: string;
      readonly credential_hash: Sha256;
      readonly credential_url: string;
      readonly status_list_index: string;
      readonly valid_from?: string;
    };
    readonly trust_config_hash: Sha256;
    readonly trust_config_version: string;
  };
  readonly expires_at?: string;
  readonly grant_hash: Sha256;
  readonly grant_id?: GrantId;
  readonly principal?: { readonly id: DidWeb; readonly verification: 'domain' | 'unverified' };
  readonly proof_hash: Sha256;
  readonly protocol: {
    readonly checks: Readonly<Record<string, CheckOutcome>>;
    readonly profile: ProfileId;
    readonly profile_hash: Sha256;
    readonly result: 'PASS' | 'FAIL';
  };
  readonly reason: ReasonCode | null;
  readonly receipt_id: ReceiptId;
  readonly receipt_version: typeof RECEIPT_VERSION;
  readonly relying_party: DidWeb;
  readonly request_hash?: Sha256;
  readonly trust: {
    readonly checks: Readonly<Record<string, CheckOutcome>>;
    readonly policy_version: 'svc-trust-v1';
    readonly result: 'PASS' | 'FAIL';
  };
}

/**
 * The part of a Receipt's body that does not come from the decision itself. `nowMs` is milliseconds since the epoch.
 */
export interface ReceiptContext {
  readonly receiptId: ReceiptId;
  readonly relyingParty: { readonly did: DidWeb };
  readonly nowMs: number;
  readonly crypto: CryptoPort;
  readonly trust?: TrustConfig;
}

/** Builds the body of the Receipt for a decided evaluation. */
export const buildReceiptBody = (
  request: VerifyRequest,
  decided: Decided,
  context: ReceiptContext,
): ReceiptBody => {
  const { crypto, relyingParty } = context;
  const { P3, P9 } = decided.evidence;
  const { profile, hash, protocolChecks, trustChecks } = decided.under;
  const requestHash = hashRequest(decided, crypto);
  // Members are assigned one by one: spreading object literals is slower, and this runs for every decision.
  const body = {} as Writable<ReceiptBody>;
  if (P9 !== undefined) body.agent = P9.proof.agent;
  if (P3 !== undefined) body.authority = authorityOf(decided);
  body.decision = decided.decision;
  body.evaluated_at = formatTimestamp(context.nowMs);
  body.evidence = evidenceOf(decided, context);
  if (P3 !== undefined) body.expires_at = P3.grant.validUntil;
  body.grant_hash = sha256Of(crypto, request.grant);
  if (P3 !== undefined) {
    body.grant_id = P3.grant.id;
    body.principal = principalOf(decided, P3.grant.issuer);
  }
  body.proof_hash = sha256Of(crypto, request.proof);
  body.protocol = {
    checks: pick(decided, protocolChecks),
    profile: profile.id,
    profile_hash: hash,
    result: resultOf(decided, protocolChecks),
  };
  body.reason = decided.reason;
  body.receipt_id = context.receiptId;
  body.receipt_version = RECEIPT_VERSION;
  body.relying_party = relyingParty.did;
  if (requestHash !== null) body.request_hash = requestHash;
  body.trust = {
    checks: pick(decided, trustChecks),
    policy_version: 'svc-trust-v1',
    result: resultOf(decided, trustChecks),
  };
  return body;
};

type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** SHA-256 of JCS `{action, htm, htu}`: a relying party recomputes it from the request that it received. */
export const requestHashOf = (
  crypto: CryptoPort,
  request: { readonly action: Action; readonly htm: string; readonly normalizedHtu: string },
): Sha256 => {
  const { action, htm, normalizedHtu } = request;
  const members = `"htm":${JSON.stringify(htm)},"htu":${JSON.stringify(normalizedHtu)}`;
  return sha256Of(crypto, `{"action":${canonicalAction(action)},${members}}`);
};

const hashRequest = ({ evidence: { P9, P15 } }: Decided, crypto: CryptoPort): Sha256 | null =>
  P9 === undefined || P15 === undefined
    ? null
    : requestHashOf(crypto, { action: P15.action, htm: P9.proof.htm, normalizedHtu: P9.proof.normalizedHtu });

/** In RFC 8785 order, so that the body stays in order. After P17 the constraints are flat and known. */
const authorityOf = ({ decision, evidence: { P20 } }: Decided): Capability | null =>
  decision !== 'ALLOW' || P20 === undefined ? null : inCanonicalOrder(P20.authority);

const principalOf = ({ outcomes }: Decided, id: DidWeb) =>
  ({ id, verification: outcomes.T2 === true ? 'domain' : 'unverified' }) as const;

const consumptionEvidence = (
  { key, balances }: Consumption,
  crypto: CryptoPort,
): NonNullable<ReceiptBody['evidence']['consumption']> => ({
  key,
  snapshot_hash: snapshotHashOf(crypto, balances),
  version: balances.version,
});

const evidenceOf = (
  { consumption, consulted: { issuerResolution, status } }: Decided,
  context: ReceiptContext,
): ReceiptBody['evidence'] => {
  const trust = context.trust ?? TRUST_CONFIG;
  const evidence = {} as Writable<ReceiptBody['evidence']>;
  if (consumption !== null) evidence.consumption = consumptionEvidence(consumption, context.crypto);
  if (issuerResolution !== undefined)
    evidence.issuer_resolution = {
      did: issuerResolution.did,
      did_document_hash: issuerResolution.hash,
      resolved_at: formatTimestamp(issuerResolution.resolvedAtMs),
    };
  if (status !== undefined) evidence.status = statusEvidence(status);
  evidence.trust_config_hash = trustConfigHash(trust, context.crypto);
  evidence.trust_config_version = trust.version;
  return evidence;
};

const statusEvidence = (
  status: NonNullable<Decided['consulted']['status']>,
): NonNullable<ReceiptBody['evidence']['status']> => {
  const shown: Writable<NonNullable<ReceiptBody['evidence']['status']>> = {
    checked_at: formatTimestamp(status.checkedAtMs),
    credential_hash: status.credentialHash,
    credential_url: status.credentialUrl,
    status_list_index: status.index,
  };
  if (status.validFrom !== null) shown.valid_from = status.validFrom;
  return shown;
};

const trustConfigHashes = new WeakMap<TrustConfig, Sha256>();
const trustConfigHash = (trust: TrustConfig, crypto: CryptoPort): Sha256 => {
  const known = trustConfigHashes.get(trust);
  if (known !== undefined) return known;
  const hash = sha256Of(crypto, trustConfigDocument(trust));
  trustConfigHashes.set(trust, hash);
  return hash;
};

type Checks = Readonly<Record<string, CheckOutcome>>;

/**
 * Assigned over a copy of `skipped`, whose members are in order. A check without an outcome stays skipped, so a Receipt
 * names every check of its profile and none passes by being left out.
 */
const pick = ({ outcomes }: Decided, { ids, skipped }: CheckGroup): Checks => {
  const picked = { ...skipped };
  for (const id of ids) picked[id] = outcomes[id] ?? 'skipped';
  return picked;
};

const resultOf = ({ outcomes }: Decided, { ids }: CheckGroup): 'PASS' | 'FAIL' =>
  ids.every((id) => outcomes[id] === true) ? 'PASS' : 'FAIL';
