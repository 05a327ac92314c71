/** The relying party's client: one object over one transport, with a member for each area of the interface. */
import {
  type ApiKeys,
  type AuditLog,
  type CallOptions,
  createApiKeys,
  createAuditLog,
  createDirectory,
  createEventSubscriptions,
  createTransport,
  type DecisionStats,
  type Directory,
  type DryRun,
  type EventSubscriptions,
  getMe,
  getUsage,
  helpful,
  type Me,
  type PrincipalDirectoryEntry,
  readPrincipalDirectoryEntry,
  type Usage,
  type UsageFilter,
  withHelp,
} from '@svc/sdk-core';
import { type Approvals, createApprovals } from './approvals.ts';
import { type Decision, getDecision } from './decision.ts';
import { type DecisionBundle, getDecisionBundle } from './decision-bundle.ts';
import { createDecisionLists, type DecisionLists } from './decision-lists.ts';
import { dryRun } from './dry-run.ts';
import { createOutcomes, type Outcomes } from './outcomes.ts';
import { createOwnSettings, type OwnSettings } from './own-settings.ts';
import { publicUrlOf } from './public-url.ts';
import { checkReady } from './ready.ts';
import { fetchedDocument, pinnedDocument } from './service-document.ts';
import { getDecisionStats, type StatsFilter } from './statistics.ts';
import { readVerifierOptions, type VerifierOptions } from './verifier-options.ts';
import { type Verdict, type VerifyOptions, verify } from './verify.ts';
import type { DryRunInput, VerifyInput } from './verify-input.ts';

/** The calls of a relying party: verify, read its decisions, report their outcomes. Every call throws `SvcError`. */
export interface Verifier extends Approvals {
  /**
   * Asks whether this Action is allowed for this HTTP request. A DENY is a value with its `reason`. An untrusted answer
   * or an unreachable service is an error, and never an ALLOW. An ALLOW spends the Proof. Amounts are in minor units of
   * the currency.
   * @example
   * const verdict = await verifier.verify({ grant, proof, action, request: { method: 'POST', url } });
   * if (!verdict.allowed) refuse(verdict.reason);
   * @throws SvcError; see its `kind`. After `outcome-unknown`, `receipt-invalid`, and `refused` with `status` 503, the
   * Proof may be spent: have the Agent sign another one. `receipt-invalid` is a `ReceiptError`, which names the
   * Receipt.
   */
  verify(input: VerifyInput, options?: VerifyOptions): Promise<Verdict>;
  /**
   * Predicts the result of `verify`: every check that fails, the compared values, the Capability that came closest, and
   * the remedy. For development and support. Nothing is spent, stored or signed. The result has no `allowed`; never act
   * on it.
   * @example
   * const { failed } = await verifier.dryRun({ grant, proof, action });
   * for (const { check, compared, remedy } of failed) console.log(check, compared, remedy);
   * @throws SvcError `invalid-argument`, or `request-mismatch` if the Proof is for another `request`: nothing was sent.
   * Else `refused`, `network`, `timeout`, `aborted` or `bad-response`. The call has no effect, so it may be repeated.
   */
  dryRun(input: DryRunInput, options?: CallOptions): Promise<DryRun>;
  /**
   * Resolves if this verifier could verify now. Await it at start; it has no effects. It checks that:
   * - the service answers and is the one whose Receipts are trusted;
   * - the service accepts the key, and the key is that of `relyingParty`;
   * - this clock differs from the service's `Svc-Time` by no more than `verify` tolerates;
   * - a pinned document has the key that signs Receipts now.
   * @throws SvcError whose message says what to do: `configuration` (no key, another party's key, a wrong DID, a wrong
   * clock, an outdated document), `network` or `timeout`
   */
  ready(options?: CallOptions): Promise<void>;
  readonly decisions: DecisionLists & {
    /** A decision of this relying party: its checked Receipt and its outcome ledger. */
    get(receiptId: string, options?: CallOptions): Promise<Decision>;
    /**
     * A decision with everything needed to check it offline, once its day is closed. Only its Receipt is checked here.
     * Before you archive the bundle, check the rest with `verifyBundle` of `@svc/receipts/bundle`.
     */
    bundle(receiptId: string, options?: CallOptions): Promise<DecisionBundle>;
    /** Decisions of a period by Principal, with the outcomes reported about them. */
    stats(filter?: StatsFilter, options?: CallOptions): Promise<DecisionStats>;
  };
  /** Reports the outcomes of this relying party's decisions. */
  readonly outcomes: Outcomes;
  /** The API keys of this relying party. */
  readonly apiKeys: ApiKeys;
  /** Every Principal: its verification, and its keys with their states. */
  readonly directory: Directory<PrincipalDirectoryEntry>;
  /** This relying party's own settings. */
  readonly relyingParty: OwnSettings;
  /**
   * Subscriptions to events. Your endpoints check the events with `verifyWebhook`.
   * @example
   * const { subscription_id, secret } = await verifier.subscriptions.create({ url: 'https://shop.example/hooks/svc', types: ['grant.revoked'] });
   * await verifier.subscriptions.test(subscription_id);
   */
  readonly subscriptions: EventSubscriptions;
  /** What was done with this relying party's API keys, newest first. */
  readonly audit: AuditLog;
  /** The numbers of this relying party's decisions per UTC day, today included; always exact. */
  usage(filter?: Omit<UsageFilter, 'rp'>, options?: CallOptions): Promise<Usage>;
  /** The identity of the API key. */
  me(options?: CallOptions): Promise<Me>;
  /**
   * The address where Agents find the service and its guide, for links in answers to them: `baseUrl` if it has the host
   * of the service's DID, else the https address of that host. Null if the host is unknown.
   */
  readonly publicUrl: string | null;
}

/**
 * Makes the client of one relying party (interface §Verify). Nothing is sent before the first call; `ready` checks at
 * start.
 * @throws SvcError `configuration` for an option that is unknown, missing or of another type, or if
 * `didDocument` is not of `serviceDid`
 * @example
 * const verifier = createVerifier({ baseUrl: 'https://svc.example', serviceDid: 'did:web:svc.example' });
 * await verifier.ready();
 */
export function createVerifier(options: VerifierOptions): Verifier {
  return withHelp(Object(options).baseUrl, () => helpful(verifierOf(options), options.baseUrl));
}

function verifierOf(options: VerifierOptions): Verifier {
  const read = readVerifierOptions(options);
  const { timeoutMs = 5_000, now = Date.now } = read;
  const { serviceDid, didDocument, relyingParty, crypto } = read;
  const transport = createTransport({ ...read, apiKeyVariable: 'SVC_RP_KEY', timeoutMs });
  const documents =
    serviceDid === undefined || didDocument !== undefined
      ? pinnedDocument(didDocument, serviceDid)
      : fetchedDocument(transport, serviceDid, { now, timeoutMs });
  const { serviceClockBehindMs = 30_000, serviceClockAheadMs = 5_000 } = read;
  const difference = { behindMs: serviceClockBehindMs, aheadMs: serviceClockAheadMs };
  const trust = { documents, serviceDid, relyingParty, crypto, clock: { nowMs: now, difference } };
  const publicUrl = publicUrlOf(read.baseUrl, serviceDid ?? Object(didDocument).id);
  return {
    publicUrl,
    verify: (input, call = {}) => verify(transport, { ...trust, publicUrl }, input, call),
    dryRun: (input, call = {}) => dryRun(transport, input, call),
    ...createApprovals(transport),
    ready: (call = {}) => checkReady(transport, read.baseUrl, trust, call),
    decisions: {
      ...createDecisionLists(transport),
      get: (receiptId, call = {}) => getDecision(transport, trust, receiptId, call),
      bundle: (receiptId, call = {}) => getDecisionBundle(transport, trust, receiptId, call),
      stats: (filter = {}, call = {}) => getDecisionStats(transport, filter, call),
    },
    outcomes: createOutcomes(transport, relyingParty),
    apiKeys: createApiKeys(transport),
    directory: createDirectory(transport, readPrincipalDirectoryEntry),
    relyingParty: createOwnSettings(transport, relyingParty, timeoutMs),
    subscriptions: createEventSubscriptions(transport),
    audit: createAuditLog(transport),
    usage: (filter = {}, call = {}) => getUsage(transport, filter, call),
    me: (call = {}) => getMe(transport, call),
  };
}
