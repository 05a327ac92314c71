/** Ends a request. The first caller decides how; every later one gets the stored result. */
import type { DidWeb } from '@svc/protocol';
import { type Caller, orgOfCaller, type RpCaller } from '../access/caller.ts';
import { lockLiveKey } from '../access/live-key.ts';
import { type AuditAction, auditEvent, type SystemActor } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, forbidden } from '../errors.ts';
import type { ApprovalDecision, ApprovalRecord } from '../ports/approvals.ts';
import { findApprovalToReject, findAskedApproval } from './find-approvals.ts';

/** The Principal's DID and the id of the request that is settled, and the id of the call. */
export interface Settling {
  readonly did: DidWeb;
  readonly id: string;
  readonly requestId: string;
}

/** The Principal rejects the request. Idempotent; the first reason stays. */
export const rejectApproval = async (
  deps: ServiceDeps,
  caller: Caller,
  { did, id, requestId }: Settling,
  reason: string | null,
): Promise<ApprovalRecord> => {
  const found = await findApprovalToReject(deps, caller, did, id);
  requireMaySettle(caller);
  if (found.state === 'denied') return answerStored(deps, found, found.principal);
  return settle(deps, caller, found, { state: 'denied', reason }, requestId);
};

/** The relying party cancels its request. Idempotent. */
export const cancelApproval = async (
  deps: ServiceDeps,
  caller: RpCaller,
  id: string,
  requestId: string,
): Promise<ApprovalRecord> => {
  const found = await findAskedApproval(deps, caller, id);
  if (found.state === 'cancelled') return answerStored(deps, found, found.principal);
  return settle(deps, caller, found, { state: 'cancelled' }, requestId);
};

/** Throws `FORBIDDEN` unless the caller has a Principal key or an org:admin key. */
export const requireMaySettle = (caller: Caller): void => {
  if (caller.class === 'principal' || (caller.class === 'org' && caller.role === 'admin')) return;
  throw forbidden('A Principal key or an org:admin key is needed.');
};

const ACTIONS = {
  approved: 'approval.approve',
  denied: 'approval.reject',
  cancelled: 'approval.cancel',
} as const satisfies Record<ApprovalDecision['state'], AuditAction>;

/** Records the decision of a request. `CONFLICT` when the request has been decided otherwise. */
export const settle = async (
  deps: ServiceDeps,
  caller: Caller | SystemActor,
  { requestId: id, principal }: ApprovalRecord,
  decision: ApprovalDecision,
  requestId: string,
): Promise<ApprovalRecord> => {
  const settled = await deps.store.transaction(
    async (tx) => {
      await lockLiveKey(tx, caller);
      const decided = await tx.approvals.decide(id, decision);
      if (decided === null) return tx.approvals.find(id);
      const action = ACTIONS[decision.state];
      const orgId = caller.class === 'system' ? null : orgOfCaller(caller);
      await tx.audit.insert(
        auditEvent(deps, caller, { action, target: id, requestId, orgId, details: { principal } }),
      );
      return decided;
    },
    { exclusiveKey: principal },
  );
  if (settled !== null && isWhatWasMeant(settled, decision)) return settled;
  throw alreadyDecided(settled);
};

/**
 * The answer to a repeated call: the request, read in a transaction, which commits only when what it read is durable.
 */
export const answerStored = async (
  { store }: Pick<ServiceDeps, 'store'>,
  found: ApprovalRecord,
  exclusiveKey: string,
): Promise<ApprovalRecord> =>
  (await store.transaction((tx) => tx.approvals.find(found.requestId), { exclusiveKey })) ?? found;

/** True for a repeated call, and for another call that did the same. */
const isWhatWasMeant = (now: ApprovalRecord, decision: ApprovalDecision): boolean =>
  now.state === decision.state && (decision.state !== 'approved' || now.approvedGrantId === decision.grantId);

export const alreadyDecided = (now: ApprovalRecord | null) =>
  conflict(
    now === null
      ? 'The request is gone.'
      : `The request is ${now.state} already, and stays so. ${
          now.state === 'denied' ? 'The same cannot be asked again for 24 hours.' : 'It can be asked again.'
        }`,
  );
