/**
 * Approving one Action that was denied (protocol §16). What is signed is made here, of the request as the caller has seen it; of what the
 * service says should be signed nothing is taken.
 */
import { jcs } from '@svc/codec';
import { APPROVAL_MAX_VALIDITY_MS, type Capability, capabilityForOnce, parseAction } from '@svc/protocol';
import {
  type AccessRequest,
  type AccessRequestList,
  type AccessRequestStatus,
  anInteger,
  aRequestId,
  type CallOptions,
  checkValue,
  isObject,
  iteratePages,
  readAccessRequestList,
  readRequestOf,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import type { Grants } from './grants.ts';
import { ownPath } from './own-record.ts';

/** What an approval signs: one Capability, to one Agent, for one relying party. */
export interface ApprovalTerms {
  /** The Agent's did:key. */
  agent: string;
  /** The relying party that asked, alone. */
  audience: readonly [string];
  /** The Action that was denied: its resource by name, its amount in minor units as the ceiling, one use. */
  capabilities: readonly [Capability];
  /** From when it is signed. */
  lifetimeSeconds: number;
}

/** Which requests. */
export interface ApprovalFilter {
  status?: AccessRequestStatus;
  /** Per page, 1–200. */
  limit?: number;
}

/** For one approval. */
export interface ApproveOptions extends CallOptions {
  /** How long the Agent has, 1 to 900 seconds; 600 unless given. */
  lifetimeSeconds?: number;
}

/** What this Principal is asked to approve. */
export interface PrincipalApprovals {
  /** Newest first, fetched page by page as it is consumed. */
  list(filter?: ApprovalFilter, options?: CallOptions): AsyncGenerator<AccessRequest, void, undefined>;
  /** One page of it; `next_cursor` is the `cursor` of the next one, null on the last. */
  page(filter?: ApprovalFilter & { cursor?: string }, options?: CallOptions): Promise<AccessRequestList>;
  /** One request, as it is now. */
  get(requestId: string, options?: CallOptions): Promise<AccessRequest>;
  /**
   * What `approve` would sign for this request, to be shown before. Nothing is sent.
   * @throws SvcError `invalid-argument` where no Grant stands for the Action alone, or the service says that another would
   */
  terms(request: AccessRequest, lifetimeSeconds?: number): ApprovalTerms;
  /**
   * Signs a Grant of exactly `terms(request)` and hands it to the relying party. Answers the request as it is then, `approved`.
   * Where it is refused (`CONFLICT`: decided or expired meanwhile) the Grant is revoked again.
   * @throws SvcError; after `outcome-unknown` look at `get`
   * @example
   * for await (const request of client.approvals.list({ status: 'pending' })) {
   *   const { audience, capabilities } = client.approvals.terms(request);
   *   console.log(audience, capabilities); // for whoever decides
   *   await client.approvals.approve(request);
   * }
   */
  approve(request: AccessRequest, options?: ApproveOptions): Promise<AccessRequest>;
  /** Says no. The relying party sees the reason, 500 characters at most. The same cannot be asked again for 24 hours. */
  reject(requestId: string, options?: CallOptions & { reason?: string }): Promise<AccessRequest>;
}

const LIFETIME_SECONDS = 600;
const aRequest = rule(
  'an AccessRequest, as list and get answer it',
  (value): value is AccessRequest =>
    isObject(value) && isObject(value.task) && isObject(value.action) && isObject(value.capability),
);
const aLifetime = anInteger(1, APPROVAL_MAX_VALIDITY_MS / 1_000, 'seconds');

export function createApprovals(transport: Transport, grants: Grants): PrincipalApprovals {
  let own: string | undefined;
  const pathOf = async (part: string, call: CallOptions) => {
    own ??= await ownPath(transport, call);
    return `${own}/access-requests${part}`;
  };
  const page: PrincipalApprovals['page'] = async (filter = {}, call = {}) => {
    const path = await pathOf('', call);
    const query = { ...filter };
    const answer = await transport.send({ method: 'GET', path, query, hasEffect: false, ...call });
    return readAccessRequestList(answer.body, 'the page');
  };
  const post = async (requestId: string, verb: string, body: Record<string, string>, call: CallOptions) => {
    checkValue('requestId', requestId, aRequestId);
    const path = await pathOf(`/${requestId}/${verb}`, call);
    const answer = await transport.send({ method: 'POST', path, body, hasEffect: true, ...call });
    return readRequestOf(requestId, answer.body);
  };
  return {
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ requests }) => requests,
      ),
    page,
    async get(requestId, call = {}) {
      checkValue('requestId', requestId, aRequestId);
      const path = await pathOf(`/${requestId}`, call);
      const answer = await transport.send({ method: 'GET', path, hasEffect: false, ...call });
      return readRequestOf(requestId, answer.body);
    },
    terms: termsOf,
    async approve(request, { lifetimeSeconds, ...call } = {}) {
      const terms = termsOf(request, lifetimeSeconds);
      checkValue('requestId', request.task.id, aRequestId);
      const { grant, grantId } = await grants.issue(terms, call);
      try {
        return await post(request.task.id, 'approve', { grant }, call);
      } catch (error) {
        // It was refused, and is signed: nobody shall use what the Principal is told was not approved.
        if (error instanceof SvcError && error.kind === 'refused') await grants.revoke(grantId, call);
        throw error;
      }
    },
    reject: (requestId, { reason, ...call } = {}) =>
      post(requestId, 'reject', reason === undefined ? {} : { reason }, call),
  };
}

function termsOf(request: AccessRequest, lifetimeSeconds = LIFETIME_SECONDS): ApprovalTerms {
  checkValue('request', request, aRequest);
  checkValue('lifetimeSeconds', lifetimeSeconds, aLifetime);
  const action = parseAction(request.action);
  const capability = action.ok ? capabilityForOnce(action.value) : null;
  if (capability === null)
    throw new SvcError('invalid-argument', 'no Grant stands for this Action alone: see its resource');
  if (!isSame(capability, request.capability))
    throw new SvcError('invalid-argument', 'the capability of the request is not that of its Action alone');
  const { agent, relying_party: relyingParty } = request;
  return { agent, audience: [relyingParty], capabilities: [capability], lifetimeSeconds };
}

const isSame = (ours: Capability, theirs: AccessRequest['capability']): boolean =>
  jcs(jsonOf(ours)) === jcs(jsonOf(theirs));

const jsonOf = ({ action, constraints, resources = [] }: Capability) => ({
  action,
  constraints,
  resources: [...resources],
});
