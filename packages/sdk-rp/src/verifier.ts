/**
 * The relying party's client (interface §Verify). A verdict is a value; everything that is not a genuine Receipt
 * about the request in hand is an error. No path leads from an error to an ALLOW.
 */
import {
  type Action,
  type Capability,
  type CryptoPort,
  encodeBase64url,
  type JsonValue,
  type ReasonCode,
} from '@svc/protocol';
import type { Receipt } from '@svc/receipts';
import {
  type ApiKeys,
  type AuditLog,
  type CallOptions,
  createApiKeys,
  createAuditLog,
  createDirectory,
  createTransport,
  type DecisionStats,
  type Directory,
  getMe,
  getUsage,
  type Me,
  type PrincipalDirectoryEntry,
  readDirectoryEntry,
  SvcError,
  type Transport,
  type Usage,
  type UsageFilter,
} from '@svc/sdk-core';
import {
  checkReceipt,
  REQUEST_HASH_FAILURE,
  type ReceiptCheck,
  type ReceivedRequest,
} from './check-receipt.ts';
import { checkStoredReceipt, checkWithRenewal, receiptError } from './check-with-renewal.ts';
import { type DecisionBundle, getDecisionBundle } from './decision-bundle.ts';
import { createDecisionLists, type DecisionLists } from './decision-lists.ts';
import { checkReceiptId, createOutcomes, type Outcomes } from './outcomes.ts';
import { createOwnSettings, type OwnSettings } from './own-settings.ts';
import { requestMismatch } from './request-mismatch.ts';
import { fetchedDocument, pinnedDocument, type ServiceDocument } from './service-document.ts';
import { getDecisionStats, type StatsFilter } from './statistics.ts';
import { type CheckedInput, readVerifierOptions, readVerifyInput } from './verifier-arguments.ts';
import { type Decision, readDecision } from './wire.ts';

export interface VerifierOptions {
  /** The service's address, https. */
  baseUrl: string;
  /** `SVC_RP_KEY` of the environment unless given; read at the first call. */
  apiKey?: string;
  /** DID of the service whose Receipts are believed. Its document is fetched once from `baseUrl` unless pinned. */
  serviceDid?: string;
  /** The service's DID document, pinned. This or `serviceDid` is required. */
  didDocument?: unknown;
  /** This relying party's DID: Receipts for another are refused. */
  relyingParty?: string;
  fetch?: typeof fetch;
  /** For the whole of a call, retries included. 5,000 unless given. */
  timeoutMs?: number;
  /** 3 unless given. */
  maxAttempts?: number;
  /** Permits plain http to a host that is not loopback. */
  allowHttp?: boolean;
  /** Portable JavaScript unless given; servers may pass `nativeCrypto` of `@svc/protocol/native`. */
  crypto?: CryptoPort;
  /** Milliseconds since the epoch. */
  now?: () => number;
  /** 0 ≤ value < 1; spreads retries. */
  random?: () => number;
}

export interface VerifyInput {
  /** `Svc-Grant` and `Svc-Proof` as received. */
  grant: string;
  proof: string;
  /** What this relying party is about to do, in its own words. Never take it from the Proof. */
  action: Action;
  /** The HTTP request really received. */
  request: ReceivedRequest;
}

/** `allowed` only with a genuine Receipt about exactly this request. */
export type Verdict =
  | { allowed: true; decision: 'ALLOW'; receipt: Receipt; authority: Capability }
  | { allowed: false; decision: 'DENY'; receipt: Receipt; reason: ReasonCode };

export interface Verifier {
  /**
   * @throws SvcError; see its `kind`. After `outcome-unknown` the Proof may be spent: have the Agent sign another.
   */
  verify(input: VerifyInput, options?: CallOptions): Promise<Verdict>;
  readonly decisions: DecisionLists & {
    /** A decision of this relying party: its Receipt, checked, and its outcome ledger. */
    get(receiptId: string, options?: CallOptions): Promise<Decision>;
    /**
     * A decision with all that it takes to check it offline, once its day is closed. Its Receipt is checked; before it is
     * put away, `verifyBundle` of `@svc/receipts/bundle` checks the rest.
     */
    bundle(receiptId: string, options?: CallOptions): Promise<DecisionBundle>;
    /** Decisions of a period by Principal, with the outcomes reported about them. */
    stats(filter?: StatsFilter, options?: CallOptions): Promise<DecisionStats>;
  };
  /** What became of this relying party's decisions. */
  readonly outcomes: Outcomes;
  readonly apiKeys: ApiKeys;
  /** Every Principal: how it is verified, and its keys with their states. */
  readonly directory: Directory<PrincipalDirectoryEntry>;
  /** This relying party's own settings. */
  readonly relyingParty: OwnSettings;
  readonly audit: AuditLog;
  /** How many decisions this relying party had, per UTC day; today's included, exact at every moment. */
  usage(filter?: Omit<UsageFilter, 'rp'>, options?: CallOptions): Promise<Usage>;
  /** Whose key this is. */
  me(options?: CallOptions): Promise<Me>;
}

/** A Receipt, and 100 attestations with long texts. */
const MAX_DECISION_BYTES = 8_388_608;

/** @throws SvcError `configuration` */
export function createVerifier(given: VerifierOptions): Verifier {
  const options = readVerifierOptions(given);
  const { timeoutMs = 5_000, maxAttempts = 3, now = Date.now, serviceDid, didDocument } = options;
  const transport = createTransport({ ...options, apiKeyVariable: 'SVC_RP_KEY', timeoutMs, maxAttempts });
  const documents =
    serviceDid === undefined || didDocument !== undefined
      ? pinnedDocument(didDocument)
      : fetchedDocument(transport, serviceDid, now);
  return {
    verify: (input, call = {}) => verify(transport, documents, options, input, call),
    decisions: {
      ...createDecisionLists(transport),
      get: (receiptId, call = {}) => getDecision(transport, documents, options, receiptId, call),
      bundle: (receiptId, call = {}) => getDecisionBundle(transport, documents, options, receiptId, call),
      stats: (filter = {}, call = {}) => getDecisionStats(transport, filter, call),
    },
    outcomes: createOutcomes(transport, options.relyingParty),
    apiKeys: createApiKeys(transport),
    directory: createDirectory(transport, readDirectoryEntry),
    relyingParty: createOwnSettings(transport, options.relyingParty),
    audit: createAuditLog(transport),
    usage: (filter = {}, call = {}) => getUsage(transport, filter, call),
    me: (call = {}) => getMe(transport, call),
  };
}

async function verify(
  transport: Transport,
  documents: ServiceDocument,
  options: VerifierOptions,
  input: VerifyInput,
  call: CallOptions,
): Promise<Verdict> {
  const checked = readVerifyInput(input);
  const { grant, proof, action, request } = checked;
  // Had before the Proof is spent: a verdict that cannot be checked would be of no use.
  const didDocument = await documents.get();
  const { body } = await transport.send({
    method: 'POST',
    path: '/verify',
    body: { grant, proof, action },
    headers: { 'idempotency-key': newIdempotencyKey() },
    hasEffect: true,
    ...call,
  });
  const { serviceDid, relyingParty, crypto } = options;
  const check = (document: unknown): ReceiptCheck =>
    checkReceipt(body, {
      didDocument: document,
      serviceDid,
      relyingParty,
      crypto,
      grant,
      proof,
      action,
      request,
    });
  return readVerdict(await checkWithRenewal(documents, didDocument, check), body, checked);
}

function readVerdict(check: ReceiptCheck, body: JsonValue, { proof, request }: CheckedInput): Verdict {
  if (!check.ok) {
    const { failures } = check;
    if (failures.every(({ code }) => code === REQUEST_HASH_FAILURE))
      throw requestMismatch(body, proof, request);
    throw receiptError(failures);
  }
  const { receipt } = check;
  if (check.decision === 'ALLOW' && receipt.authority) {
    return { allowed: true, decision: 'ALLOW', receipt, authority: receipt.authority };
  }
  if (check.decision === 'DENY' && receipt.reason !== null) {
    return { allowed: false, decision: 'DENY', receipt, reason: receipt.reason };
  }
  throw receiptError([{ code: 'decision', message: 'the decision contradicts itself' }]);
}

async function getDecision(
  transport: Transport,
  documents: ServiceDocument,
  { serviceDid, relyingParty, crypto }: VerifierOptions,
  receiptId: string,
  call: CallOptions,
): Promise<Decision> {
  checkReceiptId(receiptId);
  const path = `/decisions/${receiptId}`;
  const didDocument = await documents.get();
  const { body } = await transport.send({
    method: 'GET',
    path,
    hasEffect: false,
    maxResponseBytes: MAX_DECISION_BYTES,
    ...call,
  });
  const { receipt, outcomes } = readDecision(body);
  const expected = { receiptId, didDocument, serviceDid, relyingParty, crypto };
  return { receipt: await checkStoredReceipt(documents, receipt, expected), outcomes };
}

/**
 * New for every verify and kept for its retries only. Never derived from the Proof: a replayed Proof would then be
 * answered with the first one's stored ALLOW.
 */
function newIdempotencyKey(): string {
  const { crypto } = globalThis as { crypto?: typeof globalThis.crypto };
  if (crypto === undefined) throw new SvcError('configuration', 'this runtime has no WebCrypto');
  return encodeBase64url(crypto.getRandomValues(new Uint8Array(24)));
}
