/**
 * Asks a Principal to approve one Action that was denied (protocol §16). The caller names a stored Receipt and sends
 * the Proof whose hash is in it; the content of the request comes from these two. Nothing is decided here, and no
 * decision reads what is stored.
 */
import {
  type Action,
  type ApprovalOutcomes,
  capabilityForOnce,
  DAY_MS,
  encodeUlid,
  findUnapprovable,
  isJsonObject,
  isReadable,
  jcs,
  parseProof,
  parseStrictJson,
  type ReceiptBody,
  type ReceiptId,
  sha256Of,
} from '@svc/protocol';
import { receiptTextOf } from '@svc/receipts';
import type { RpCaller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { exclusiveKeyOfRelyingParty } from '../access/tenant.ts';
import { auditEvent } from '../audit/audit-event.ts';
import { evaluatedAtMsOf } from '../decisions/evaluated-at.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, invalidRequest, notFound, rateLimited } from '../errors.ts';
import type { ApprovalAsk, ApprovalLoad, ApprovalRecord } from '../ports/approvals.ts';
import type { ReceiptRecord } from '../ports/decisions.ts';
import { knownProfileOf } from '../relying-parties/known-profile.ts';
import { answerStored } from './settle.ts';

export interface ApprovalOrder {
  readonly receiptId: ReceiptId;
  /** The Proof that the denial was about. */
  readonly proof: string;
  /** Time that the Principal has to decide. */
  readonly expiresInSeconds: number;
  readonly requestId: string;
  /**
   * The only Principal and Agent that a request in the sandbox may be about. The limits below do not apply to the
   * sandbox: they protect a person from too many requests, and in the sandbox no person is asked. So one visitor cannot
   * use up the limits of another.
   */
  readonly playedBy?: Pick<ApprovalAsk, 'principal' | 'agent'>;
}

/** Maximum age of the denial. The Action of an older one must be verified again first. */
const DENIED_WITHIN_MS = 3_600_000;
/** Maximum number of denials that one request stands for. */
const RECEIPTS_EACH = 100;

/**
 * After this many denials by the Principal in 24 h, no further request about the Agent is accepted. A Principal must
 * not be asked again and again until it agrees.
 */
const DENIALS_OF_AGENT = 5;

/** Limits of the requests that are open, and of those made in an hour. */
const LIMITS: readonly {
  readonly counted: Exclude<keyof ApprovalLoad, 'deniedAtMs' | 'deniedAboutAgent'>;
  readonly most: number;
  readonly what: string;
  readonly retryAfterSeconds: number;
}[] = [
  {
    counted: 'openAboutAgent',
    most: 5,
    what: 'requests of this Agent wait for this Principal',
    retryAfterSeconds: 60,
  },
  {
    counted: 'openByPair',
    most: 10,
    what: 'of your requests wait for this Principal',
    retryAfterSeconds: 60,
  },
  { counted: 'openToPrincipal', most: 50, what: 'requests wait for this Principal', retryAfterSeconds: 60 },
  { counted: 'openByRelyingParty', most: 1_000, what: 'of your requests are open', retryAfterSeconds: 60 },
  {
    counted: 'madeLastHourByPair',
    most: 20,
    what: 'requests were made by you to this Principal within an hour',
    retryAfterSeconds: 600,
  },
  {
    counted: 'madeLastHourAboutAgent',
    most: 20,
    what: 'requests about this Agent were made to this Principal within an hour',
    retryAfterSeconds: 600,
  },
  {
    counted: 'madeLastHourToPrincipal',
    most: 100,
    what: 'requests were made to this Principal within an hour',
    retryAfterSeconds: 600,
  },
];

/**
 * Returns the one request that stands for this denial, made now or before. `NOT_FOUND`: the caller has no such
 * decision. `CONFLICT`: the decision cannot be approved, or the Principal has lately denied the same, or too many
 * requests about this Agent. `RATE_LIMITED`: too many requests exist.
 */
export const requestApproval = async (
  deps: ServiceDeps,
  caller: RpCaller,
  { receiptId, proof, expiresInSeconds, requestId, playedBy }: ApprovalOrder,
): Promise<ApprovalRecord> => {
  const known = await deps.store.approvals.findOfReceipt(receiptId);
  if (known?.relyingParty === caller.subject)
    return answerStored(deps, assertPlayed(known, playedBy), exclusiveKeyOfRelyingParty(caller.subject));
  const { ask, action } = await readDenial(deps, caller, receiptId, proof);
  assertPlayed(ask, playedBy);
  return deps.store.transaction(
    async (tx) => {
      // Taken before the row locks. A transaction that waits here with shared row locks would delay the transactions
      // that revoke the key, the Agent or the Grant.
      await tx.approvals.lock(ask);
      await lockLiveKey(tx, caller);
      // Locked before the requests, in the same order as a transfer, so that the two cannot deadlock.
      assertHeld(receiptId, await tx.principals.lockHeldSince(ask.principal));
      await tx.approvals.expireDue(ask);
      const before = await tx.approvals.findOfReceipt(receiptId);
      if (before !== null) return before;
      const open = await tx.approvals.findOpen(ask);
      if (open === null && playedBy === undefined)
        assertRoom(await tx.approvals.count(ask), deps.clock.nowMs());
      const id = open?.requestId ?? `arq_${encodeUlid(deps.clock.nowMs(), deps.random.bytes(10))}`;
      const request =
        open ??
        (await tx.approvals.insert({ ...ask, requestId: id, action, expiresInSeconds, receiptId, proof }));
      if (!(await tx.approvals.addReceipt(id, receiptId, RECEIPTS_EACH)))
        throw rateLimited(
          `${RECEIPTS_EACH} denials of this Action ask for the same already: wait for the answer to ${id}.`,
          60,
        );
      if (open === null) {
        const details = { principal: ask.principal, receipt_id: receiptId };
        const audited = { action: 'approval.request', target: id, requestId, details } as const;
        await tx.audit.insert(auditEvent(deps, caller, audited));
      }
      return request;
    },
    { exclusiveKey: exclusiveKeyOfRelyingParty(caller.subject) },
  );
};

const assertPlayed = <T extends Pick<ApprovalAsk, 'principal' | 'agent'>>(
  asked: T,
  playedBy: ApprovalOrder['playedBy'],
): T => {
  if (playedBy !== undefined && (asked.principal !== playedBy.principal || asked.agent !== playedBy.agent))
    throw notFound('Only denials of the sandbox’s own Principal and Agent can be asked about here.');
  return asked;
};

const assertRoom = (load: ApprovalLoad, nowMs: number): void => {
  if (load.deniedAtMs !== null) {
    const hours = Math.ceil((load.deniedAtMs + DAY_MS - nowMs) / 3_600_000);
    throw conflict(`The Principal has denied this. It can be asked for again in ${Math.max(1, hours)} h.`);
  }
  if (load.deniedAboutAgent >= DENIALS_OF_AGENT)
    throw conflict(
      `The Principal has denied ${DENIALS_OF_AGENT} requests about this Agent within 24 hours. It can be asked again a day after the first of these.`,
    );
  for (const { counted, most, what, retryAfterSeconds } of LIMITS)
    if (load[counted] >= most)
      throw rateLimited(
        `${most} ${what}, which is the limit: wait until some are decided, or cancel some.`,
        retryAfterSeconds,
      );
};

interface Denial {
  readonly ask: ApprovalAsk;
  readonly action: Action;
}

const tooOld = () => conflict('The denial is older than an hour: verify again, and ask about that Receipt.');

/** Throws unless the DID's present holder held it when this was decided: another holder is not asked about it. */
const assertHeld = (receiptId: ReceiptId, heldSinceMs: number): void => {
  if (evaluatedAtMsOf(receiptId) >= heldSinceMs) return;
  throw conflict(
    'The DID of the Principal has another holder since: verify again, and ask about that Receipt.',
  );
};

const readDenial = async (
  deps: ServiceDeps,
  caller: RpCaller,
  receiptId: ReceiptId,
  proof: string,
): Promise<Denial> => {
  const { store, clock, crypto } = deps;
  // The id contains the time of the decision. A denial that is too old is refused before any look-up; its day may have
  // left the database.
  if (!(clock.nowMs() - evaluatedAtMsOf(receiptId) <= DENIED_WITHIN_MS)) throw tooOld();
  const receipt = await store.receipts.find(receiptId);
  if (receipt === null || receipt.relyingParty !== caller.subject)
    throw notFound(`No decision ${receiptId}.`);
  const body = bodyOf(receipt);
  if (body.decision === 'ALLOW') throw conflict('The decision is an ALLOW: there is nothing to approve.');
  const { profile } = knownProfileOf(caller.relyingParty);
  const problem = findUnapprovable(outcomesOf(body), body.protocol.profile);
  if (problem !== null)
    throw conflict(`${problem} Only a denial whose P1 to P15 and trust checks hold can be approved.`);
  if (sha256Of(crypto, proof) !== body.proof_hash)
    throw invalidRequest('proof: not the one that this decision was about: its SHA-256 is another');
  if (!profile.budgets)
    throw conflict(
      `Your profile is ${profile.id}, which knows no maxUses: a Grant for one use would be denied with UNKNOWN_CONSTRAINT. Have your operator set svc-base-v2.`,
    );
  if (caller.isPaused) throw conflict('You are paused: nothing would be allowed. Resume first.');
  const { principal, grant_id: grantId, agent } = body;
  const signed = parseProof(proof);
  // P3, P9 and P14 hold, so the Proof contains the Action that was decided.
  if (principal === undefined || grantId === undefined || agent === undefined || !signed.ok)
    throw internal(`decision ${receiptId} without its parts`);
  const { action } = signed.value;
  if (capabilityForOnce(action) === null)
    throw invalidRequest(
      'receipt_id: the resource of the Action has an asterisk, is longer than 512 characters, or is a URL with a query or otherwise not in its normal form, so no Grant can name it alone',
    );
  if (!isReadable(action.resource))
    throw invalidRequest(
      'receipt_id: the resource of the Action has characters that are not seen, or that change how the others are read, so no person can be asked about it',
    );
  const [facts] = await store.verify.findFacts([{ issuer: principal.id, grantId }]);
  const grant = facts?.grant ?? null;
  if (facts?.principal == null || grant?.principal !== principal.id)
    throw conflict('The Principal is not registered here any more.');
  assertHeld(receiptId, await store.principals.findHeldSince(principal.id));
  if (grant.revocationRecordedAtMs !== null) throw conflict('The Grant has been revoked since.');
  if (grant.isPaused) throw conflict('The Grant, its Agent or its Principal is paused. Ask once it goes on.');
  const relyingParty = caller.relyingParty.did;
  const actionHash = sha256Of(crypto, jcs({ ...action }));
  return { ask: { relyingParty, principal: principal.id, grantId, agent, actionHash }, action };
};

const bodyOf = ({ receiptId, jws }: ReceiptRecord): ReceiptBody => {
  const text = receiptTextOf(jws);
  const json = text === null ? null : parseStrictJson(text);
  if (json === null || !json.ok || !isJsonObject(json.value)) throw internal(`stored receipt ${receiptId}`);
  return json.value as unknown as ReceiptBody;
};

const outcomesOf = ({ protocol, trust }: ReceiptBody): ApprovalOutcomes =>
  ({ ...protocol.checks, ...trust.checks }) as ApprovalOutcomes;
