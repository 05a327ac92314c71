/**
 * Requests and gives approvals in the sandbox (protocol §16). Only here can the service sign an approval, because the
 * sandbox Principal is its own. The request, the Grant and the checks of the Grant are those of any other Principal.
 */
import { type Action, capabilityForOnce, type ReceiptId } from '@svc/protocol';
import type { RpCaller } from '../access/caller.ts';
import { findTenantFor } from '../access/tenant.ts';
import { approveAs, type GrantFacts } from '../approvals/approve.ts';
import { requestApproval } from '../approvals/request-approval.ts';
import { SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import { conflict, internal } from '../errors.ts';
import type { ApprovalRecord } from '../ports/approvals.ts';
import { issueSandboxGrant, signSandboxProof } from './issue.ts';
import type { Sandbox } from './sandbox.ts';

/** How long a request stays open, and how long the Grant that approves it is valid. */
const DEMO_APPROVAL_SECONDS = 600;

export interface DemoApprovalOrder {
  readonly receiptId: ReceiptId;
  readonly proof: string;
  /** False: the Principal is only asked. */
  readonly approve: boolean;
  readonly requestId: string;
}

/** The sandbox, and the verifier of the node that plays it. */
interface Playing {
  readonly sandbox: Sandbox;
  readonly verifier: GrantFacts;
}

export interface DemoApproval {
  readonly request: ApprovalRecord;
  /** What the Agent then presents; its Proof is new in each answer. Null: nothing is approved yet. */
  readonly purchase: { readonly grant: string; readonly proof: string; readonly action: Action } | null;
}

/**
 * Idempotent except for the Proof. `CONFLICT`: the request or its Grant has expired, or the denial cannot be approved.
 */
export const approveDemo = async (
  deps: ServiceDeps,
  playing: Playing,
  caller: RpCaller,
  { receiptId, proof, approve, requestId }: DemoApprovalOrder,
): Promise<DemoApproval> => {
  const { principal, agent, relyingParty } = playing.sandbox;
  const asked = await requestApproval(deps, caller, {
    receiptId,
    proof,
    expiresInSeconds: DEMO_APPROVAL_SECONDS,
    requestId,
    playedBy: { principal, agent: agent.did },
  });
  if (!approve) return { request: asked, purchase: null };
  const request = asked.state === 'approved' ? asked : await approveAsked(deps, playing, asked, requestId);
  const { approvedGrant: grant, approvedGrantId: grantId, action } = request;
  if (grant === null || grantId === null) throw conflict('The Grant that approved this has expired.');
  const fresh = await signSandboxProof(deps, agent, relyingParty, grantId, action);
  return { request, purchase: { grant, proof: fresh.proof, action } };
};

const approveAsked = async (
  deps: ServiceDeps,
  { sandbox, verifier }: Playing,
  request: ApprovalRecord,
  requestId: string,
): Promise<ApprovalRecord> => {
  const { principal, agent, relyingParty } = sandbox;
  if (request.state !== 'pending') throw conflict(`The request is ${request.state} already, and stays so.`);
  const capability = capabilityForOnce(request.action);
  if (capability === null) throw internal('an Action that nothing can approve was asked for');
  const { grant } = await deps.store.transaction(
    (tx) =>
      issueSandboxGrant(deps, tx, sandbox, {
        agent: agent.did,
        audience: relyingParty,
        capability,
        lifetimeSeconds: DEMO_APPROVAL_SECONDS,
        requestId,
      }),
    { exclusiveKey: principal },
  );
  const tenant = await findTenantFor(deps.store, 'principal', { orgId: null, did: principal });
  return approveAs(deps, { actor: SYSTEM, tenant, verifier }, request, grant, requestId);
};
