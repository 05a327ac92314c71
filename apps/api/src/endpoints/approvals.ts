/** Approvals (protocol §16). */
import { type Body, GRANT_MODE, type Routes } from '@svc/contract';
import { capabilityForOnce, formatTimestamp } from '@svc/protocol';
import {
  type ApprovalRecord,
  approveRequest,
  assertLiveKey,
  cancelApproval,
  findAskedApproval,
  findOwnApproval,
  type GrantFacts,
  internal,
  listOwnApprovals,
  rejectApproval,
  requestApproval,
  type ServiceDeps,
  tenantOf,
  type Waits,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import type { ApprovalMetrics } from '../metrics/approval-metrics.ts';
import { formatTimestampOrNull } from './format-timestamp-or-null.ts';

/** State of a node that is kept between calls. */
export interface ApprovalNode {
  readonly waits: Waits;
  readonly metrics: ApprovalMetrics;
  readonly verifier: GrantFacts;
}

export const approvalEndpoints = (
  deps: ServiceDeps,
  { waits, metrics, verifier }: ApprovalNode,
): HandlersOf<'approvals'> => {
  const present = (record: ApprovalRecord) => presentAccessRequest(deps, record);
  return {
    requestAccess: async ({ caller, body, requestId }) => {
      const { receipt_id: receiptId, expires_in_seconds: expiresInSeconds, proof } = body;
      const order = { receiptId, proof, expiresInSeconds, requestId };
      const request = await metrics.count('requested', 'refused', requestApproval(deps, caller, order));
      return { status: 202, body: present(request) };
    },

    getAccessRequest: async ({ caller, params: { request_id }, query: { wait }, clientGone }) => {
      const request = await findAskedApproval(deps, caller, request_id);
      if (request.state !== 'pending' || wait === 0) return { status: 200, body: present(request) };
      const ended = metrics.wait();
      await waits.until(request_id, tenantOf(caller), wait * 1_000, clientGone()).finally(ended);
      await assertLiveKey(deps.store, caller);
      return { status: 200, body: present(await findAskedApproval(deps, caller, request_id)) };
    },

    cancelAccessRequest: async ({ caller, params, requestId }) => {
      const cancelling = cancelApproval(deps, caller, params.request_id, requestId);
      return { status: 200, body: present(await metrics.count('cancelled', null, cancelling)) };
    },

    listApprovals: async ({ caller, params, query }) => {
      const { items, nextCursor } = await listOwnApprovals(deps, caller, params.did, query);
      return { status: 200, body: { requests: items.map(present), next_cursor: nextCursor } };
    },

    getApproval: async ({ caller, params: { did, request_id } }) => ({
      status: 200,
      body: present(await findOwnApproval(deps, caller, did, request_id)),
    }),

    approveRequest: async ({ caller, params: { did, request_id: id }, body, requestId }) => {
      const approving = approveRequest(deps, caller, verifier, { did, id, requestId }, body.grant);
      return { status: 200, body: present(await metrics.count('approved', 'not_approved', approving)) };
    },

    rejectRequest: async ({ caller, params: { did, request_id: id }, body, requestId }) => {
      const rejecting = rejectApproval(deps, caller, { did, id, requestId }, body.reason ?? null);
      return { status: 200, body: present(await metrics.count('denied', null, rejecting)) };
    },
  };
};

type AccessRequest = Body<Routes['getAccessRequest'], 200>;

export const presentAccessRequest = (
  { identity }: Pick<ServiceDeps, 'identity'>,
  record: ApprovalRecord,
): AccessRequest => {
  const capability = capabilityForOnce(record.action);
  if (capability === null) throw internal('an Action that nothing can approve was asked for');
  const address = `${identity.baseUrl}/access/v1/requests/${record.requestId}`;
  return {
    task: {
      id: record.requestId,
      status: record.state,
      status_endpoint: address,
      expires_at: formatTimestamp(record.expiresAtMs),
      links: { cancel: `${address}/cancel` },
    },
    relying_party: record.relyingParty,
    principal: record.principal,
    grant_id: record.grantId,
    agent: record.agent,
    action: record.action,
    capability: { ...capability, resources: [...(capability.resources ?? [])] },
    receipt_id: record.receiptId,
    proof: record.proof,
    requested_at: formatTimestamp(record.requestedAtMs),
    decided_at: formatTimestampOrNull(record.decidedAtMs),
    reason: record.reason,
    result: resultOf(record),
  };
};

const resultOf = ({
  approvedGrantId,
  approvedGrant,
  approvedUntilMs,
}: ApprovalRecord): AccessRequest['result'] =>
  approvedGrantId === null || approvedUntilMs === null
    ? null
    : {
        mode: GRANT_MODE,
        grant_id: approvedGrantId,
        grant: approvedGrant,
        approved_until: formatTimestamp(approvedUntilMs),
      };
