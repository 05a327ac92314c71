/**
 * Approving one Action that was denied (protocol §16). The Grant is built here from the request that the caller has
 * seen, after a check that this is what the Agent signed and the service denied. Nothing is taken from what the service
 * proposes to sign.
 */
import { jcs, type Signer } from '@svc/codec';
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
  readDecision,
  readRequestOf,
  rule,
  SvcError,
  type Transport,
} from '@svc/sdk-core';
import { type CheckedAccessRequest, checkAccessRequest, OLDEST_REQUEST_MS } from './check-access-request.ts';
import { copyJson, issuerOf } from './grant-draft.ts';
import { type AllocationCheck, type Grants, type IssuedGrant, issueGrant, NODES_APART_MS } from './grants.ts';
import { ownDid, pathOf } from './own-record.ts';

/** The terms that an approval signs: one Capability, for one Agent, at one relying party. */
export interface ApprovalTerms {
  /** The Agent's did:key. */
  agent: string;
  /** Only the relying party that asked. */
  audience: readonly [string];
  /**
   * The denied Action: its exact resource, its amount in minor units as the maximum, one use. For an `api:call`: its
   * method and address, with any query and body that the Agent chooses.
   */
  capabilities: readonly [Capability];
  /** How long the Grant is valid, counted from one second before the service allocates it. */
  lifetimeSeconds: number;
}

/** Which requests to list. */
export interface ApprovalFilter {
  status?: AccessRequestStatus;
  /** Items per page, 1–200. */
  limit?: number;
}

/** Options of one approval. */
export interface ApproveOptions extends CallOptions {
  /** How long the Agent may use the Grant, 1 to 900 seconds; 600 unless given. */
  lifetimeSeconds?: number;
}

/** The requests for this Principal's approval. */
export interface PrincipalApprovals {
  /** Newest first. Pages are fetched as the list is consumed. */
  list(filter?: ApprovalFilter, options?: CallOptions): AsyncGenerator<AccessRequest, void, undefined>;
  /** One page of the list; `next_cursor` is the `cursor` of the next page, null on the last one. */
  page(filter?: ApprovalFilter & { cursor?: string }, options?: CallOptions): Promise<AccessRequestList>;
  /** One request in its current state. */
  get(requestId: string, options?: CallOptions): Promise<AccessRequest>;
  /**
   * What `approve` would sign for this request, to show before the decision. Nothing is sent.
   * @throws SvcError `invalid-argument` if no Grant can allow this Action alone, or if the service names another
   * Capability
   */
  terms(request: AccessRequest, lifetimeSeconds?: number): ApprovalTerms;
  /**
   * Checks that this Agent signed for this Action and that the service denied it to this Principal. Fetches the
   * Receipt, and verifies it and the Agent's Proof here. Show a request to a person only after this check. This
   * Principal is the owner of the client's signing key; without a signer its `principal`; without that, the owner of
   * the API key as the service says.
   * @throws SvcError `receipt-invalid`: the request is not what was denied. `configuration`: the request is genuine,
   * but by this computer's clock it is too old or in the future
   */
  check(request: AccessRequest, options?: CallOptions): Promise<CheckedAccessRequest>;
  /**
   * Checks the request as `check` does, signs a Grant of exactly `terms(request)` and sends it to the service for the
   * relying party. The Grant's beginning is taken from the service's clock and must be within 26 hours of the denial;
   * `check` limits the error of this computer's clock. Returns the request, now `approved`. After a lost answer or a
   * 503 the request is read again. Unless it is approved by this Grant (`CONFLICT`: it was decided or has expired
   * meanwhile), the Grant is revoked again.
   * @throws SvcError Before anything is signed: the errors of `check`, `invalid-argument` if `request` is not pending,
   * or `bad-response` if the service dates the Grant outside that period. If a Grant was signed, the message says what
   * became of it
   * @example
   * for await (const request of client.approvals.list({ status: 'pending' })) {
   *   const { audience, capabilities } = client.approvals.terms(request);
   *   console.log(audience, capabilities); // for whoever decides
   *   await client.approvals.approve(request);
   * }
   */
  approve(request: AccessRequest, options?: ApproveOptions): Promise<AccessRequest>;
  /**
   * Refuses the request. The relying party sees the reason, at most 500 characters. It cannot ask the same again for 24
   * hours.
   */
  reject(requestId: string, options?: CallOptions & { reason?: string }): Promise<AccessRequest>;
}

type Sent = Parameters<Transport['send']>[0];

const LIFETIME_SECONDS = 600;
const aRequest = rule(
  'an AccessRequest, as list and get answer it',
  (value): value is AccessRequest =>
    isObject(value) && isObject(value.task) && isObject(value.action) && isObject(value.capability),
);
const aLifetime = anInteger(1, APPROVAL_MAX_VALIDITY_MS / 1_000, 'seconds');

/** What `check` compares with, and its clock. */
export interface ApprovalTrust {
  signer?: Signer;
  didDocument?: unknown;
  serviceDid?: string;
  now?: () => number;
  /** The member whose requests are meant, if the API key is an org's. */
  principal?: string;
}

export function createApprovals(
  transport: Transport,
  grants: Pick<Grants, 'revoke'>,
  trust: ApprovalTrust,
): PrincipalApprovals {
  const { signer, didDocument, serviceDid, now = Date.now, principal } = trust;
  let known: string | undefined;
  const own = async (call: CallOptions) => {
    known ??= await ownDid(transport, call, principal);
    return known;
  };
  const sendTo = (part: string, sent: Omit<Sent, 'path'>, call: CallOptions) =>
    transport.whole(call, async (whole) => {
      const path = `${pathOf(await own(whole.rest()))}/access-requests${part}`;
      return transport.send({ ...sent, path, ...whole.rest() });
    });
  const page: PrincipalApprovals['page'] = async (filter = {}, call = {}) => {
    const query = { ...filter };
    const answer = await sendTo('', { method: 'GET', query, hasEffect: false }, call);
    return readAccessRequestList(answer.body, 'the page');
  };
  const post = async (requestId: string, verb: string, body: Record<string, string>, call: CallOptions) => {
    checkValue('requestId', requestId, aRequestId);
    const sent = { method: 'POST', body, hasEffect: true } as const;
    const answer = await sendTo(`/${requestId}/${verb}`, sent, call);
    return readRequestOf(requestId, answer.body);
  };
  const get = async (requestId: string, call: CallOptions) => {
    checkValue('requestId', requestId, aRequestId);
    const answer = await sendTo(`/${requestId}`, { method: 'GET', hasEffect: false }, call);
    return readRequestOf(requestId, answer.body);
  };
  const check = async (shown: AccessRequest, call: CallOptions): Promise<CheckedAccessRequest> => {
    const request = copyOf(shown);
    termsOf(request);
    const { receipt_id: receiptId } = request;
    if (receiptId === null)
      throw new SvcError('receipt-invalid', 'the request names no denial: let it be asked again');
    return transport.whole(call, async (whole) => {
      const asked = await own(whole.rest());
      const path = `${pathOf(asked)}/decisions/${receiptId}`;
      const { body } = await transport.send({ method: 'GET', path, hasEffect: false, ...whole.rest() });
      const { receipt } = readDecision(body, 'the decision');
      return checkAccessRequest(request, {
        principal: signer === undefined ? asked : issuerOf(signer.kid),
        receipt,
        didDocument: didDocument ?? (await fetchDocument(transport, whole.rest())),
        ...(serviceDid === undefined ? {} : { serviceDid }),
        nowMs: now(),
      });
    });
  };
  /**
   * Returns the request if this Grant did approve it. Otherwise revokes the Grant: after an error nobody must be able
   * to use it.
   */
  const takeBack = async (
    requestId: string,
    { grantId, validUntil }: IssuedGrant,
    error: unknown,
  ): Promise<AccessRequest> => {
    const { kind = null, status = null } = error instanceof SvcError ? error : {};
    // After a 503 the service itself may not know whether the approval was stored.
    const isRefused = kind === 'refused' && status !== null && status < 500;
    const found = isRefused || kind === 'aborted' ? null : await get(requestId, {}).catch(() => null);
    if (found !== null && isApprovedBy(found, grantId)) return found;
    const isRevoked = await grants.revoke(grantId).then(
      () => true,
      () => false,
    );
    throw withFate(
      error,
      isRevoked
        ? `this Grant approves nothing: ${grantId}, that was signed, is revoked`
        : `the Grant ${grantId} that was signed could not be revoked: it is in force until ${validUntil}, for this Action, once. Revoke it`,
    );
  };
  return {
    list: (filter = {}, call = {}) =>
      iteratePages(
        (cursor) => page({ ...filter, ...cursor }, call),
        ({ requests }) => requests,
      ),
    page,
    get: (requestId, call = {}) => get(requestId, call),
    terms: termsOf,
    check: (request, call = {}) => check(request, call),
    async approve(shown, { lifetimeSeconds, ...call } = {}) {
      const request = copyOf(shown);
      const terms = termsOf(request, lifetimeSeconds);
      const { id, status } = request.task;
      checkValue('requestId', id, aRequestId);
      if (status !== 'pending')
        throw new SvcError('invalid-argument', `the request is ${status} already: nothing is signed`);
      return transport.whole(call, async (whole) => {
        const { receipt } = await check(request, whole.rest());
        const inTime = answersTo(receipt.evaluated_at);
        const issued = await issueGrant(transport, trust, terms, whole.rest(), inTime);
        try {
          const approved = await post(id, 'approve', { grant: issued.grant }, whole.rest());
          if (isApprovedBy(approved, issued.grantId)) return approved;
          throw new SvcError(
            'bad-response',
            'the service does not say that the request was approved by this Grant',
          );
        } catch (error) {
          // Without the deadline: the signed Grant must be revoked, however late.
          return takeBack(id, issued, error);
        }
      });
    },
    reject: (requestId, { reason, ...call } = {}) =>
      post(requestId, 'reject', reason === undefined ? {} : { reason }, call),
  };
}

/**
 * A copy, so that what is signed is what was checked, even if the caller changes the object. `termsOf` refuses a
 * non-object.
 */
const copyOf = (request: AccessRequest): AccessRequest =>
  isObject(request) ? (copyJson(request) as unknown as AccessRequest) : request;

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

/**
 * A Grant that answers the denial is allocated after the denial and before the request expires. So the Receipt that the
 * service signed limits the date of the Grant, not this computer's clock, which may be wrong.
 */
const answersTo =
  (evaluatedAt: string): AllocationCheck =>
  (allocatedMs) => {
    const sinceMs = allocatedMs - Date.parse(evaluatedAt);
    if (sinceMs >= -NODES_APART_MS && sinceMs <= OLDEST_REQUEST_MS) return;
    throw new SvcError(
      'bad-response',
      `the service dates the Grant ${new Date(allocatedMs).toISOString()}, which is not within 26 hours of the denial of ${evaluatedAt}: nothing is signed`,
    );
  };

const isApprovedBy = ({ task, result }: AccessRequest, grantId: string): boolean =>
  task.status === 'approved' && result?.grant_id === grantId;

/** The same error, with what became of the Grant added. */
const withFate = (error: unknown, fate: string): unknown =>
  error instanceof SvcError
    ? new SvcError(error.kind, `${error.message} (${fate})`, { ...detailOf(error), cause: error })
    : error;

const detailOf = ({ code, status, requestId, retryAfterSeconds, helpUrl }: SvcError) => ({
  code,
  status,
  requestId,
  retryAfterSeconds,
  helpUrl,
});

async function fetchDocument(transport: Transport, call: CallOptions): Promise<unknown> {
  const path = '/.well-known/did.json';
  return (await transport.send({ method: 'GET', path, isPublic: true, hasEffect: false, ...call })).body;
}

const isSame = (ours: Capability, theirs: AccessRequest['capability']): boolean =>
  jcs(jsonOf(ours)) === jcs(jsonOf(theirs));

const jsonOf = ({ action, constraints, resources = [] }: Capability) => ({
  action,
  constraints,
  resources: [...resources],
});
