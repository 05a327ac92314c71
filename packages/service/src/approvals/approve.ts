/**
 * A Principal approves by signing an ordinary Grant (protocol §16), which the service cannot sign for it. The service
 * checks that the Grant is what was asked for and no more, and that it would hold now. It keeps the Grant until it
 * expires and hands it to the relying party. When the Grant is used, all checks decide anew whether it holds.
 */
import {
  type CheckId,
  capabilityForOnce,
  type Decided,
  evaluate,
  findApprovalFault,
  found,
  type Grant,
  parsePresented,
} from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal, invalidRequest } from '../errors.ts';
import type { ApprovalRecord } from '../ports/approvals.ts';
import type { RelyingPartyRecord } from '../ports/relying-parties.ts';
import { StoreError } from '../ports/store.ts';
import type { Tenant } from '../ports/tenant.ts';
import { knownProfileOf } from '../relying-parties/known-profile.ts';
import { checksWithout, factsFor } from '../verify/evaluate.ts';
import type { Verifier } from '../verify/verify.ts';
import { findOwnApproval } from './find-approvals.ts';
import { alreadyDecided, answerStored, requireMaySettle, type Settling, settle } from './settle.ts';

/**
 * Approves a request with a Grant. Idempotent for one Grant. `INVALID_REQUEST`: the Grant is not what was asked for.
 * `CONFLICT`: it would be denied now, or the request is decided already.
 */
export const approveRequest = async (
  deps: ServiceDeps,
  caller: Caller,
  verifier: GrantFacts,
  { did, id, requestId }: Settling,
  jws: string,
): Promise<ApprovalRecord> => {
  const request = await findOwnApproval(deps, caller, did, id);
  requireMaySettle(caller);
  const approver = { actor: caller, tenant: tenantOf(caller), verifier };
  return approveAs(deps, approver, request, jws, requestId);
};

/**
 * The part of the node's verifier that loads facts, so that fetches of an approval count among those of verifications.
 */
export type GrantFacts = Pick<Verifier, 'loadAnew'>;

/** The actor that approves, the tenant on whose account it does so, and the source of its facts. */
export interface Approver {
  readonly actor: Caller | SystemActor;
  readonly tenant: Tenant;
  readonly verifier: GrantFacts;
}

/** Approves for an actor that is known to be the Principal of the request. */
export const approveAs = async (
  deps: ServiceDeps,
  approver: Approver,
  request: ApprovalRecord,
  jws: string,
  requestId: string,
): Promise<ApprovalRecord> => {
  const presented = parsePresented({ grant: jws, proof: '', action: request.action });
  if (!presented.grant.ok) throw invalidRequest(`grant: ${presented.grant.problem}`);
  const grant = presented.grant.value;
  if (request.state === 'approved' && request.approvedGrantId === grant.id)
    return answerStored(deps, request, request.principal);
  if (request.state !== 'pending') throw alreadyDecided(request);
  assertAsAsked(grant, request);
  await assertHolds(deps, approver, request, presented);
  const decision = { state: 'approved', grant: jws, grantId: grant.id, untilMs: grant.validUntilMs } as const;
  try {
    return await settle(deps, approver.actor, request, decision, requestId);
  } catch (error) {
    if (error instanceof StoreError && error.kind === 'conflict')
      throw conflict('This Grant approves another request. Allocate one for this request.');
    throw error;
  }
};

const assertAsAsked = (grant: Grant, { principal, agent, relyingParty, action }: ApprovalRecord): void => {
  const capability = capabilityForOnce(action);
  if (capability === null) throw internal('an Action that nothing can approve was asked for');
  const fault =
    grant.issuer === principal
      ? findApprovalFault(grant, { agent, relyingParty, capability })
      : `must be issued by ${principal}`;
  if (fault !== null) throw invalidRequest(`grant: ${fault}`);
};

type Presented = ReturnType<typeof parsePresented>;

/**
 * Evaluates the Grant as a verification would, without a Proof, over facts that are read now. Throws when the Grant
 * would be denied.
 */
const assertHolds = async (
  deps: ServiceDeps,
  approver: Approver,
  request: ApprovalRecord,
  presented: Presented,
): Promise<void> => {
  const relyingParty = await deps.store.relyingParties.find(request.relyingParty);
  if (relyingParty === null) throw conflict('The relying party is not registered here any more.');
  const decided = await evaluateGrant(deps, approver, presented, relyingParty);
  // Each check that does not depend on P8, which reads the Proof: there is none yet.
  const wrong = checksWithout(decided.under, 'P8').find((check) => decided.outcomes[check] !== true);
  if (wrong === undefined) return;
  throw wrong === 'P3'
    ? invalidRequest('grant: the signature does not verify under the key that its kid names')
    : conflict(
        `The Grant would be denied now, at ${wrong}${reasonOf(decided, wrong)}. Nothing was approved.`,
      );
};

/**
 * The decision's reason belongs to the first failed check. From P8 on that check is the missing Proof, whose reason
 * says nothing about the Grant.
 */
const reasonOf = ({ reason }: Decided, wrong: CheckId): string =>
  reason === null || reason === 'PROOF_MALFORMED' || wrong === 'P15' ? '' : ` (${reason})`;

const evaluateGrant = async (
  deps: ServiceDeps,
  { tenant, verifier }: Approver,
  presented: Presented,
  relyingParty: RelyingPartyRecord,
): Promise<Decided> => {
  const { did, proofWindowSeconds } = relyingParty;
  const { id: profile } = knownProfileOf(relyingParty).profile;
  const { facts, isWithheld } = await verifier.loadAnew({ presented, tenant, noteRemoteWait: () => {} });
  const isAskerPaused = await deps.store.pauses.isAskerPaused(did);
  if (isWithheld || !presented.grant.ok) throw conflict('The Grant is withheld since a restore.');
  const query = { grantId: presented.grant.value.id, jti: null };
  const [budget] = await deps.store.verify.findBudgets([query]);
  if (budget === undefined) throw internal('no balances');
  const decided = evaluate(
    presented,
    { ...factsFor({ isPaused: isAskerPaused }, facts), balances: found(budget.balances) },
    { relyingParty: { did, profile, proofWindowSeconds }, nowMs: deps.clock.nowMs(), crypto: deps.crypto },
  );
  if (decided.kind === 'undecided') throw internal('unanswered look-ups');
  return decided;
};
