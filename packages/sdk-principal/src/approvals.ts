/**
 * Approving one Action that was denied (protocol §16). What is signed is made here, of the request as the caller has
 * seen it, once that has been found to be what the Agent signed for and the service denied; of what the service says
 * should be signed nothing is taken.
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

/** What an approval signs: one Capability, to one Agent, for one relying party. */
export interface ApprovalTerms {
  /** The Agent's did:key. */
  agent: string;
  /** The relying party that asked, alone. */
  audience: readonly [string];
  /**
   * The Action that was denied: its resource by name, its amount in minor units as the ceiling, one use. Of an `api:call`
   * its method and address: whatever query and body the Agent chooses, is allowed.
   */
  capabilities: readonly [Capability];
  /** How long the Grant is valid, from a second before the service allocates it. */
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
   * Whether this Agent has signed for this Action and the service has denied it to this Principal: fetches the Receipt,
   * and verifies it and the Agent's Proof here. What is shown to a person should have passed it. This Principal is the
   * one whose key the client signs with; without a signer its `principal`, and without that the one that the service
   * says the API key is of.
   * @throws SvcError `receipt-invalid`: the request is not what was denied. `configuration`: it is, and by the clock
   * here it is too old, or yet to come
   */
  check(request: AccessRequest, options?: CallOptions): Promise<CheckedAccessRequest>;
  /**
   * Checks it as `check` does, signs a Grant of exactly `terms(request)` and hands it to the relying party. The Grant
   * begins by the service's clock, within 26 hours of the denial; how far the one here may be off `check` says. Answers the request as it
   * is then, `approved`. Where it is not (`CONFLICT`: decided or expired meanwhile; or nothing is heard of it) the Grant
   * is revoked again.
   * @throws SvcError before anything is signed: what `check` throws, `invalid-argument` where `request` is not pending,
   * or `bad-response` where the service dates the Grant otherwise. Its message says what became of the Grant where one was
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

type Sent = Parameters<Transport['send']>[0];

const LIFETIME_SECONDS = 600;
const aRequest = rule(
  'an AccessRequest, as list and get answer it',
  (value): value is AccessRequest =>
    isObject(value) && isObject(value.task) && isObject(value.action) && isObject(value.capability),
);
const aLifetime = anInteger(1, APPROVAL_MAX_VALIDITY_MS / 1_000, 'seconds');

/** What `check` compares with, and when. */
export interface ApprovalTrust {
  signer?: Signer;
  didDocument?: unknown;
  serviceDid?: string;
  now?: () => number;
  /** Whose requests, where the key is an org's. */
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
   * Answers the request where it was approved by this Grant after all. Otherwise nobody shall use what is told to have
   * failed.
   */
  const takeBack = async (
    requestId: string,
    { grantId, validUntil }: IssuedGrant,
    error: unknown,
  ): Promise<AccessRequest> => {
    const { kind = null, status = null } = error instanceof SvcError ? error : {};
    // A 503 may stand for an approval of which the service does not know whether it was stored.
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
          // Not within the deadline: what was signed is taken back, however late it is.
          return takeBack(id, issued, error);
        }
      });
    },
    reject: (requestId, { reason, ...call } = {}) =>
      post(requestId, 'reject', reason === undefined ? {} : { reason }, call),
  };
}

/** What is signed must be what was checked, whatever becomes of the caller's object meanwhile. `termsOf` refuses what is none. */
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
 * A Grant that answers the denial is allocated after it, and before the request has expired. So what the service signed
 * bounds what it can have dated, and not a clock here that may be wrong.
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

/** The same, and what became of the Grant. */
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
