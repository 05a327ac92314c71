/**
 * The access table: for every route, the status that each class of caller is answered about each subject. A route
 * without a row does not compile.
 *
 * Columns: RP key, Principal key, org:read key, org:admin key, observer key, admin token, provision key. A number is
 * the status for all subjects; four numbers are those for {own, own org's, foreign, absent}. Public routes answer all
 * callers alike.
 */
import type { RouteId } from '@svc/contract';
import { generateAgentKey } from '@svc/sdk-principal/agent';
import { randomSlug } from '../../world/deployment.ts';
import type { Subject } from './world.ts';

export type Cell = number | readonly [own: number, org: number, foreign: number, absent: number];
type Columns = readonly [
  rp: Cell,
  principal: Cell,
  orgRead: Cell,
  orgAdmin: Cell,
  observer: Cell,
  admin: Cell,
  provision: Cell,
];

export interface Call {
  readonly path: string;
  readonly body?: unknown;
}

/** One way of calling a route. `subject` is what the call names, `own` belongs to the caller. */
export interface Case {
  readonly what: string;
  readonly outcomes: Columns | { readonly anybody: Cell };
  readonly call: (subject: Subject, own: Subject) => Call | Promise<Call>;
}

/** Access to: itself only; itself and the members of its org; every existing subject. */
const own = (status: number): Cell => [status, 404, 404, 404];
const members = (status: number): Cell => [status, status, 404, 404];
const every = (status: number): Cell => [status, status, status, 404];

const encoded = encodeURIComponent;
const STREAM = 'ssf_01M7VZGC008Q2R7V9X1C4E6H8R';
const OUTCOME = { type: 'fulfilled', occurred_at: '2026-01-01T00:00:00Z' };
/** An access request with an invalid Grant and Proof: denied, with a Receipt. */
const accessBy = (agent: string) => ({
  subject: { type: 'agent', id: agent, properties: { grant: '', proof: '' } },
  action: { name: 'commerce:purchase' },
  resource: { type: 'order', id: 'order/1' },
});
/** A new Agent for each registration, so that none is a repetition. */
const newAgent = async () => (await generateAgentKey()).did;

/** Covers everything, without a start or end. */
const ENTITLEMENT = {
  production: 'allowed',
  production_until: null,
  check_cap: null,
  cap_since: null,
  reason: 'paid',
  as_of: '2026-01-01T00:00:00Z',
};

/**
 * `status` is answered to the Principal that is asked. With a body only an org:admin key may call, beside the
 * Principal.
 */
function approvalCases(
  status: number,
  state: 'pending' | 'denied',
  path = '',
  body?: object,
): readonly Case[] {
  const orgRead = body === undefined ? members(status) : 403;
  return [
    {
      what: 'names a Principal and a request to it',
      outcomes: [401, own(status), orgRead, members(status), 401, 401, 401],
      call: ({ principal, accessRequests }) => ({
        path: `/principals/${principal}/access-requests/${accessRequests[state]}${path}`,
        ...(body !== undefined && { body }),
      }),
    },
    {
      what: 'names a request, for the Principal of the caller',
      outcomes: [401, own(status), body === undefined ? own(status) : 403, own(status), 401, 401, 401],
      call: ({ accessRequests }, { principal }) => ({
        path: `/principals/${principal}/access-requests/${accessRequests[state]}${path}`,
        ...(body !== undefined && { body }),
      }),
    },
  ];
}

export const TABLE: Readonly<Record<RouteId, readonly Case[]>> = {
  verify: [
    {
      what: 'names nobody',
      outcomes: [200, 401, 401, 401, 401, 401, 401],
      call: () => ({ path: '/verify', body: { grant: '', proof: '', action: {} } }),
    },
  ],

  dryRunVerify: [
    {
      what: 'names nobody',
      outcomes: [200, 401, 401, 401, 401, 401, 401],
      call: () => ({ path: '/verify/dry-run', body: { grant: '', proof: '', action: {} } }),
    },
  ],

  evaluateAccess: [
    {
      what: 'names an Agent',
      outcomes: [200, 401, 401, 401, 401, 401, 401],
      call: ({ agent }) => ({ path: '/access/v1/evaluation', body: accessBy(agent) }),
    },
  ],
  evaluateAccesses: [
    {
      what: 'names an Agent',
      outcomes: [200, 401, 401, 401, 401, 401, 401],
      call: ({ agent }) => ({ path: '/access/v1/evaluations', body: { evaluations: [accessBy(agent)] } }),
    },
  ],
  getAuthZenConfiguration: [
    {
      what: 'names nobody',
      outcomes: { anybody: 200 },
      call: () => ({ path: '/.well-known/authzen-configuration' }),
    },
  ],

  requestAccess: [
    {
      what: 'names a Receipt, of an ALLOW',
      outcomes: [[409, 404, 404, 404], 401, 401, 401, 401, 401, 401],
      call: ({ receiptId }) => ({
        path: '/access/v1/requests',
        body: { receipt_id: receiptId, proof: 'a.b.c' },
      }),
    },
  ],
  getAccessRequest: [
    {
      what: 'names a request of a relying party',
      outcomes: [own(200), 401, 401, 401, 401, 401, 401],
      call: ({ accessRequests }) => ({ path: `/access/v1/requests/${accessRequests.pending}` }),
    },
  ],
  cancelAccessRequest: [
    {
      what: 'names a request of a relying party, cancelled',
      outcomes: [own(200), 401, 401, 401, 401, 401, 401],
      call: ({ accessRequests }) => ({ path: `/access/v1/requests/${accessRequests.cancelled}/cancel` }),
    },
  ],
  listApprovals: [
    {
      what: 'names a Principal',
      outcomes: [401, own(200), members(200), members(200), 401, 401, 401],
      call: ({ principal }) => ({ path: `/principals/${principal}/access-requests` }),
    },
  ],
  getApproval: approvalCases(200, 'pending'),
  // The Grant in the body is invalid, so nothing is approved.
  approveRequest: approvalCases(400, 'pending', '/approve', { grant: 'a.b.c' }),
  rejectRequest: approvalCases(200, 'denied', '/reject', {}),

  getDemoInfo: [{ what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/demo/info' }) }],
  mintDemo: [
    { what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/demo/mint', body: {} }) },
  ],
  verifyDemo: [
    {
      what: 'names nobody',
      outcomes: { anybody: 200 },
      call: () => ({ path: '/demo/verify', body: { grant: '', proof: '', action: {} } }),
    },
  ],
  approveDemo: [
    {
      what: 'names a decision that is not the sandbox’s',
      outcomes: { anybody: 404 },
      call: ({ receiptId }) => ({ path: '/demo/approval', body: { receipt_id: receiptId, proof: 'a.b.c' } }),
    },
  ],
  revokeDemo: [
    {
      what: 'names a Grant that is not the sandbox’s',
      outcomes: { anybody: 404 },
      call: ({ grantId }) => ({ path: '/demo/revoke', body: { grant_id: grantId } }),
    },
  ],

  signUp: [
    {
      what: 'names nobody',
      outcomes: [401, 401, 401, 401, 401, 401, 201],
      call: () => ({
        path: '/orgs/self-serve',
        body: { slug: randomSlug('s'), name: 'A tenant', admin_email: 'admin@tenant.example' },
      }),
    },
  ],
  getStarter: [
    {
      what: 'names a relying party that self-serve did not make',
      outcomes: [401, 401, 401, 401, 401, 401, 404],
      call: ({ relyingParty }) => ({ path: '/orgs/self-serve/starter', body: { rp_did: relyingParty } }),
    },
  ],
  getFirstReceipt: [
    {
      what: 'names a relying party that self-serve did not make',
      outcomes: [401, 401, 401, 401, 401, 401, 404],
      call: ({ relyingParty }) => ({
        path: '/orgs/self-serve/first-receipt',
        body: { rp_did: relyingParty },
      }),
    },
  ],

  allocateGrant: [
    {
      what: 'names an Agent, which is nobody’s',
      outcomes: [401, 201, 401, 401, 401, 401, 401],
      call: async () => ({ path: '/grants', body: { agent: await newAgent() } }),
    },
  ],
  listGrants: [
    {
      what: 'names a Principal',
      outcomes: [401, own(200), members(200), members(200), 401, 200, 401],
      call: ({ principal }) => ({ path: `/grants?principal=${principal}` }),
    },
    {
      what: 'names nobody',
      outcomes: [401, 200, 200, 200, 401, 200, 401],
      call: () => ({ path: '/grants' }),
    },
  ],
  getGrantConsumption: [
    {
      what: 'names a Grant; each was verified by the relying party of its own set alone',
      outcomes: [own(200), own(200), members(200), members(200), 401, every(200), 401],
      call: ({ grantId }) => ({ path: `/grants/${grantId}/consumption` }),
    },
  ],
  revokeGrant: [
    {
      what: 'names a Principal and its Grant',
      outcomes: [401, [200, 403, 403, 403], 403, members(200), 401, 401, 401],
      call: ({ principal, grantId }) => ({
        path: `/revoke?principal=${principal}`,
        body: { grant_id: grantId },
      }),
    },
    {
      what: 'names a Grant, for the Principal of the caller',
      outcomes: [401, own(200), 403, own(200), 401, 401, 401],
      call: ({ grantId }, { principal }) => ({
        path: `/revoke?principal=${principal}`,
        body: { grant_id: grantId },
      }),
    },
  ],

  registerAgent: [
    {
      what: 'names a Principal',
      outcomes: [401, [201, 403, 403, 403], 403, members(201), 401, 401, 401],
      call: async ({ principal }) => ({
        path: `/agents?principal=${principal}`,
        body: { did: await newAgent() },
      }),
    },
  ],
  disableAgent: [
    {
      what: 'names a Principal and its Agent',
      outcomes: [401, [200, 403, 403, 403], 403, members(200), 401, 401, 401],
      call: ({ principal, agent }) => ({ path: `/agents/${agent}/disable?principal=${principal}` }),
    },
    {
      what: 'names an Agent, for the Principal of the caller',
      outcomes: [401, own(200), 403, own(200), 401, 401, 401],
      call: ({ agent }, { principal }) => ({ path: `/agents/${agent}/disable?principal=${principal}` }),
    },
  ],

  listPrincipalDecisions: ownDecisionCases(''),
  exportPrincipalDecisions: ownDecisionCases('/export'),
  getPrincipalDecisionStats: ownDecisionCases('/stats'),
  getPrincipalActivity: ownDecisionCases('/activity?by=agent'),
  getPrincipalDecision: [
    {
      what: 'names a Principal and a decision on its Grant',
      outcomes: [401, own(200), members(200), members(200), 401, 401, 401],
      call: ({ principal, receiptId }) => ({ path: `/principals/${principal}/decisions/${receiptId}` }),
    },
    {
      what: 'names a decision, for the Principal of the caller',
      outcomes: [401, own(200), own(200), own(200), 401, 401, 401],
      call: ({ receiptId }, { principal }) => ({ path: `/principals/${principal}/decisions/${receiptId}` }),
    },
  ],

  pause: pauseCases('/pauses'),
  resume: pauseCases('/pauses/resume'),
  listPauses: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 401, 200, 401],
      call: () => ({ path: '/pauses' }),
    },
  ],

  retireKey: signingKeyCases('retire'),
  compromiseKey: signingKeyCases('compromise'),

  listPrincipals: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 401, 200, 401],
      call: () => ({ path: '/principals' }),
    },
    {
      what: 'names an org',
      outcomes: [403, 403, members(200), members(200), 401, 200, 401],
      call: ({ orgId }) => ({ path: `/principals?org_id=${orgId}` }),
    },
  ],
  getPrincipal: [
    {
      what: 'names a Principal: the directory is open to every live key',
      outcomes: [every(200), every(200), every(200), every(200), 401, every(200), 401],
      call: ({ principal }) => ({ path: `/principals/${principal}` }),
    },
  ],
  updatePrincipal: [
    {
      what: 'names a Principal',
      outcomes: [401, 401, 401, 401, 401, every(200), 401],
      call: ({ principal }) => ({ path: `/principals/${principal}`, body: { may_be_named: true } }),
    },
  ],
  verifyPrincipal: [
    {
      what: 'names a Principal',
      outcomes: [401, own(200), 403, members(200), 401, every(200), 401],
      call: ({ principal }) => ({ path: `/principals/${principal}/verify` }),
    },
  ],

  listDecisions: decisionListCases('/decisions'),
  exportDecisions: decisionListCases('/decisions/export'),
  getDecision: [
    {
      what: 'names a Receipt',
      outcomes: [own(200), 401, members(200), members(200), 401, every(200), 401],
      call: ({ receiptId }) => ({ path: `/decisions/${receiptId}` }),
    },
    {
      what: 'names a Receipt and its relying party',
      outcomes: [own(200), 401, members(200), members(200), 401, every(200), 401],
      call: ({ receiptId, relyingParty }) => ({ path: `/decisions/${receiptId}?rp=${relyingParty}` }),
    },
  ],

  reportOutcome: [
    {
      what: 'names a Receipt and its relying party',
      outcomes: [[201, 403, 403, 403], 401, 403, members(201), 401, 401, 401],
      call: ({ receiptId, relyingParty }) => ({
        path: `/decisions/${receiptId}/outcomes?subject=${relyingParty}`,
        body: OUTCOME,
      }),
    },
    {
      what: 'names a Receipt, for the relying party of the caller',
      outcomes: [own(201), 401, 403, own(201), 401, 401, 401],
      call: ({ receiptId }, { relyingParty }) => ({
        path: `/decisions/${receiptId}/outcomes?subject=${relyingParty}`,
        body: OUTCOME,
      }),
    },
    {
      what: 'names a Receipt alone',
      outcomes: [own(201), 401, 403, 400, 401, 401, 401],
      call: ({ receiptId }) => ({ path: `/decisions/${receiptId}/outcomes`, body: OUTCOME }),
    },
  ],

  createPrincipal: [
    {
      what: 'into an org',
      outcomes: [401, 401, 403, [201, 201, 403, 403], 401, [201, 201, 201, 400], 401],
      call: ({ orgId }) => ({
        path: '/principals',
        body: { kind: 'hosted', did: `did:web:${randomSlug('h')}.example`, org_id: orgId },
      }),
    },
    {
      what: 'without naming an org',
      outcomes: [401, 401, 403, 201, 401, 201, 401],
      call: () => ({
        path: '/principals',
        body: { kind: 'hosted', did: `did:web:${randomSlug('h')}.example` },
      }),
    },
  ],
  createRelyingParty: [
    {
      what: 'into an org',
      outcomes: [401, 401, 403, [201, 201, 403, 403], 401, [201, 201, 201, 400], 401],
      call: ({ orgId }) => ({
        path: '/relying-parties',
        body: { kind: 'managed', slug: randomSlug('r'), org_id: orgId },
      }),
    },
    {
      what: 'without naming an org',
      outcomes: [401, 401, 403, 201, 401, 201, 401],
      call: () => ({ path: '/relying-parties', body: { kind: 'managed', slug: randomSlug('r') } }),
    },
  ],
  getRelyingParty: [
    {
      what: 'names a relying party',
      outcomes: [own(200), 401, members(200), members(200), 401, every(200), 401],
      call: ({ relyingParty }) => ({ path: `/relying-parties/${relyingParty}` }),
    },
  ],
  updateRelyingParty: [
    {
      what: 'names a relying party',
      outcomes: [401, 401, 403, members(200), 401, every(200), 401],
      call: ({ relyingParty }) => ({ path: `/relying-parties/${relyingParty}`, body: { name: 'Shop' } }),
    },
  ],

  verifyRelyingParty: [
    {
      what: 'names a relying party',
      outcomes: [own(200), 401, 403, members(200), 401, every(200), 401],
      call: ({ relyingParty }) => ({ path: `/relying-parties/${relyingParty}/verify` }),
    },
  ],
  getClaims: [
    {
      what: 'names a relying party',
      outcomes: [own(200), 404, members(200), members(200), 401, every(200), 401],
      call: ({ relyingParty }) => ({ path: `/claims/${relyingParty}` }),
    },
    {
      what: 'names a Principal',
      outcomes: [404, own(200), members(200), members(200), 401, every(200), 401],
      call: ({ principal }) => ({ path: `/claims/${principal}` }),
    },
  ],
  releaseClaim: [
    {
      what: 'names a DID that is no claim',
      outcomes: [401, 401, 401, 401, 401, every(409), 401],
      call: ({ relyingParty }) => ({
        path: `/claims/${relyingParty}/release`,
        body: { kind: 'relying_party' },
      }),
    },
  ],
  transferClaim: [
    {
      what: 'names a Principal and the org that it is in',
      outcomes: [401, 401, 401, 401, 401, [200, 200, 200, 400], 401],
      call: ({ principal, orgId }) => ({
        path: `/claims/${principal}/transfer`,
        body: { kind: 'principal', org_id: orgId },
      }),
    },
  ],

  createOrg: [
    {
      what: 'names nobody',
      outcomes: [401, 401, 401, 401, 401, 201, 401],
      call: () => ({ path: '/orgs', body: { slug: randomSlug('org'), name: 'Org' } }),
    },
  ],
  getOrg: [
    {
      what: 'names an org',
      outcomes: [401, 401, members(200), members(200), 401, every(200), 401],
      call: ({ orgId }) => ({ path: `/orgs/${orgId}` }),
    },
  ],
  addOrgMember: [
    {
      what: 'names an org and its relying party',
      outcomes: [401, 401, 401, 401, 401, every(201), 401],
      call: ({ orgId, relyingParty }) => ({ path: `/orgs/${orgId}/members`, body: { did: relyingParty } }),
    },
    {
      what: 'names a Principal, into the org of the caller',
      outcomes: [401, 401, 401, 401, 401, [201, 201, 409, 404], 401],
      call: ({ principal }, { orgId }) => ({ path: `/orgs/${orgId}/members`, body: { did: principal } }),
    },
  ],
  getEntitlement: [
    {
      what: 'names an org',
      outcomes: [401, 401, 401, 401, 401, every(200), every(200)],
      call: ({ orgId }) => ({ path: `/orgs/${orgId}/entitlement` }),
    },
  ],
  putEntitlement: [
    {
      what: 'names an org',
      outcomes: [401, 401, 401, 401, 401, every(200), every(200)],
      call: ({ orgId }) => ({ path: `/orgs/${orgId}/entitlement`, body: ENTITLEMENT }),
    },
  ],
  listOrgApiKeys: [
    {
      what: 'names an org',
      outcomes: [401, 401, members(200), members(200), 401, every(200), 401],
      call: ({ orgId }) => ({ path: `/orgs/${orgId}/api-keys` }),
    },
  ],
  issueOrgApiKey: [
    {
      what: 'names an org',
      outcomes: [401, 401, 403, members(201), 401, every(201), 401],
      call: ({ orgId }) => ({ path: `/orgs/${orgId}/api-keys`, body: { role: 'read' } }),
    },
  ],
  revokeOrgApiKey: [
    {
      what: 'names an org and its key',
      outcomes: [401, 401, 403, members(200), 401, every(200), 401],
      call: ({ orgId, orgKeyId }) => ({ path: `/orgs/${orgId}/api-keys/${orgKeyId}/revoke` }),
    },
    {
      what: 'names a key, in the org of the caller',
      outcomes: [401, 401, 403, members(200), 401, members(200), 401],
      call: ({ orgKeyId }, { orgId }) => ({ path: `/orgs/${orgId}/api-keys/${orgKeyId}/revoke` }),
    },
    {
      what: 'names a key of a relying party, in the org of the caller',
      outcomes: [401, 401, 403, 404, 401, 404, 401],
      call: ({ relyingPartyKeyId }, { orgId }) => ({
        path: `/orgs/${orgId}/api-keys/${relyingPartyKeyId}/revoke`,
      }),
    },
  ],

  getMe: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 200, 401, 401],
      call: () => ({ path: '/me' }),
    },
  ],

  listApiKeys: [
    {
      what: 'names a relying party',
      outcomes: [own(200), 404, members(200), members(200), 401, every(200), 401],
      call: ({ relyingParty }) => ({ path: `/api-keys?subject=${relyingParty}` }),
    },
    {
      what: 'names a Principal',
      outcomes: [404, own(200), members(200), members(200), 401, every(200), 401],
      call: ({ principal }) => ({ path: `/api-keys?subject=${principal}` }),
    },
    {
      what: 'names nobody',
      outcomes: [200, 200, 400, 400, 401, 400, 401],
      call: () => ({ path: '/api-keys' }),
    },
  ],
  issueApiKey: [
    {
      what: 'names a relying party',
      outcomes: [own(201), 404, 403, members(201), 401, every(201), 401],
      call: ({ relyingParty }) => ({ path: `/api-keys?subject=${relyingParty}`, body: {} }),
    },
    {
      what: 'names a Principal',
      outcomes: [404, own(201), 403, members(201), 401, every(201), 401],
      call: ({ principal }) => ({ path: `/api-keys?subject=${principal}`, body: {} }),
    },
    {
      what: 'names nobody',
      outcomes: [201, 201, 403, 400, 401, 400, 401],
      call: () => ({ path: '/api-keys', body: {} }),
    },
  ],
  revokeApiKey: [
    {
      what: 'names a key of a relying party',
      outcomes: [own(200), 404, 403, members(200), 401, every(200), 401],
      call: ({ relyingPartyKeyId }) => ({ path: `/api-keys/${relyingPartyKeyId}/revoke` }),
    },
    {
      what: 'names a key of a Principal',
      outcomes: [404, own(200), 403, members(200), 401, every(200), 401],
      call: ({ principalKeyId }) => ({ path: `/api-keys/${principalKeyId}/revoke` }),
    },
    {
      what: 'names a relying party and its key',
      outcomes: [own(200), 404, 403, 403, 401, every(200), 401],
      call: ({ relyingParty, relyingPartyKeyId }) => ({
        path: `/api-keys/${relyingPartyKeyId}/revoke?subject=${relyingParty}`,
      }),
    },
    {
      what: 'names an org key, which has a place of its own',
      outcomes: [404, 404, 403, 404, 401, 404, 401],
      call: ({ orgKeyId }) => ({ path: `/api-keys/${orgKeyId}/revoke` }),
    },
  ],
  listObserverKeys: [
    {
      what: 'names nobody',
      outcomes: [401, 401, 401, 401, 401, 200, 401],
      call: () => ({ path: '/observer-keys' }),
    },
  ],
  issueObserverKey: [
    {
      what: 'names nobody',
      outcomes: [401, 401, 401, 401, 401, 201, 401],
      call: () => ({ path: '/observer-keys', body: {} }),
    },
  ],
  revokeObserverKey: [
    {
      what: 'names an observer key; all are the service’s',
      outcomes: [401, 401, 401, 401, 401, every(200), 401],
      call: ({ observerKeyId }) => ({ path: `/observer-keys/${observerKeyId}/revoke` }),
    },
    {
      what: 'names a key of another class',
      outcomes: [401, 401, 401, 401, 401, 404, 401],
      call: ({ principalKeyId }) => ({ path: `/observer-keys/${principalKeyId}/revoke` }),
    },
  ],

  listAudit: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 401, 200, 401],
      call: () => ({ path: '/audit' }),
    },
    {
      what: 'names an actor',
      outcomes: [403, 403, 403, 403, 401, 200, 401],
      call: ({ relyingParty }) => ({ path: `/audit?actor=${relyingParty}` }),
    },
  ],

  getUsage: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 200, 200, 401],
      call: () => ({ path: '/usage' }),
    },
    {
      what: 'names a relying party',
      outcomes: [own(200), 200, members(200), members(200), 200, 200, 401],
      call: ({ relyingParty }) => ({ path: `/usage?rp=${relyingParty}` }),
    },
    {
      what: 'names a Principal',
      outcomes: [200, own(200), members(200), members(200), 200, 200, 401],
      call: ({ principal }) => ({ path: `/usage?principal=${principal}` }),
    },
    {
      what: 'names a Principal, with the relying party of the caller',
      outcomes: [200, own(200), members(200), members(200), 200, 200, 401],
      call: ({ principal }, { relyingParty }) => ({
        path: `/usage?principal=${principal}&rp=${relyingParty}`,
      }),
    },
    {
      what: 'names a relying party, with the Principal of the caller',
      outcomes: [own(200), 200, members(200), members(200), 200, 200, 401],
      call: ({ relyingParty }, { principal }) => ({
        path: `/usage?principal=${principal}&rp=${relyingParty}`,
      }),
    },
  ],
  getDecisionStats: [
    {
      what: 'names nobody',
      outcomes: [200, 401, 200, 200, 200, 200, 401],
      call: () => ({ path: '/decisions/stats' }),
    },
    {
      what: 'names a relying party',
      outcomes: [own(200), 401, members(200), members(200), 200, 200, 401],
      call: ({ relyingParty }) => ({ path: `/decisions/stats?rp=${relyingParty}` }),
    },
    {
      what: 'names a Principal, which only narrows',
      outcomes: [200, 401, 200, 200, 200, 200, 401],
      call: ({ principal }) => ({ path: `/decisions/stats?principal=${principal}` }),
    },
  ],
  getMetrics: [{ what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/metrics' }) }],

  getHealth: [{ what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/healthz' }) }],
  getServiceDidDocument: [
    { what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/.well-known/did.json' }) },
  ],
  getServiceJwks: [
    { what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/.well-known/jwks.json' }) },
  ],
  getPrincipalDidDocument: [
    {
      what: 'names a Principal',
      outcomes: { anybody: every(200) },
      call: ({ principalSlug }) => ({ path: `/org/${principalSlug}/did.json` }),
    },
  ],
  getRelyingPartyDidDocument: [
    {
      what: 'names a relying party',
      outcomes: { anybody: every(200) },
      call: ({ relyingParty }) => ({ path: `/rp/${relyingParty.split(':').at(-1)}/did.json` }),
    },
  ],
  getEvidence: [
    {
      what: 'names an artifact',
      outcomes: { anybody: every(200) },
      call: ({ evidenceHash }) => ({ path: `/evidence/${encoded(evidenceHash)}` }),
    },
  ],
  getStatusList: [
    {
      what: 'names a list',
      outcomes: { anybody: every(200) },
      call: ({ statusListPath }) => ({ path: statusListPath }),
    },
  ],

  // The deployment of the tests is younger than a day, so no day is closed.
  getLatestCheckpoint: [
    { what: 'names nobody', outcomes: { anybody: 404 }, call: () => ({ path: '/checkpoints/latest' }) },
  ],
  listRestores: [{ what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/restores' }) }],
  getCheckpoint: [
    {
      what: 'names an open day',
      outcomes: { anybody: 404 },
      call: () => ({ path: '/checkpoints/2026-01-01' }),
    },
  ],
  getCheckpointLeaves: [
    {
      what: 'names an open day',
      outcomes: { anybody: 404 },
      call: () => ({ path: '/checkpoints/2026-01-01/leaves' }),
    },
  ],
  getInclusion: [
    {
      what: 'names a decision',
      outcomes: { anybody: every(202) },
      call: ({ receiptId }) => ({ path: `/decisions/${receiptId}/inclusion` }),
    },
  ],
  getAttestation: [
    {
      what: 'names a decision',
      outcomes: { anybody: every(202) },
      call: ({ receiptId }) => ({ path: `/decisions/${receiptId}/attestation` }),
    },
  ],
  getBundle: [
    {
      what: 'names a decision',
      outcomes: [own(202), 401, members(202), members(202), 401, every(202), 401],
      call: ({ receiptId }) => ({ path: `/decisions/${receiptId}/bundle` }),
    },
    {
      what: 'names a decision and its relying party',
      outcomes: [own(202), 401, members(202), members(202), 401, every(202), 401],
      call: ({ receiptId, relyingParty }) => ({ path: `/decisions/${receiptId}/bundle?rp=${relyingParty}` }),
    },
  ],
  closeCheckpoints: [
    {
      what: 'names nobody',
      outcomes: [401, 401, 401, 401, 401, 200, 401],
      call: () => ({ path: '/checkpoints/close' }),
    },
  ],

  // Each run is started for the caller itself. A refused call starts nothing, so the rows do not reach its limits.
  createEventSubscription: [
    {
      what: 'names a host of the service',
      outcomes: [400, 400, 403, 400, 401, 401, 401],
      call: () => ({
        path: '/event-subscriptions',
        body: { url: 'https://svc.test/', types: ['decision.deny'] },
      }),
    },
  ],
  listEventSubscriptions: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 401, 401, 401],
      call: () => ({ path: '/event-subscriptions' }),
    },
  ],
  testEventSubscription: subscriptionCases('test'),
  rotateEventSecret: subscriptionCases('rotate'),
  disableEventSubscription: subscriptionCases('disable'),
  enableEventSubscription: subscriptionCases('enable'),
  deleteEventSubscription: subscriptionCases('delete'),
  listEventDeliveries: subscriptionCases('deliveries', 404),
  replayEvents: subscriptionCases('replay', 403, { since: '2026-01-01T00:00:00Z' }),

  getSsfConfiguration: [
    {
      what: 'names nobody',
      outcomes: { anybody: 200 },
      call: () => ({ path: '/.well-known/ssf-configuration' }),
    },
  ],
  getSsfJwks: [
    { what: 'names nobody', outcomes: { anybody: 200 }, call: () => ({ path: '/ssf/jwks.json' }) },
  ],
  createStream: [
    {
      what: 'names an endpoint',
      outcomes: [400, 400, 403, 400, 401, 401, 401],
      call: () => ({
        path: '/ssf/streams',
        body: { delivery: { method: 'urn:ietf:rfc:8936', endpoint_url: 'https://shop.test/' } },
      }),
    },
  ],
  getStreams: [
    {
      what: 'names nobody',
      outcomes: [200, 200, 200, 200, 401, 401, 401],
      call: () => ({ path: '/ssf/streams' }),
    },
    ...streamCases(`/ssf/streams?stream_id=${STREAM}`, undefined, 404),
  ],
  updateStream: streamCases('/ssf/streams', { stream_id: STREAM }),
  replaceStream: streamCases('/ssf/streams', { stream_id: STREAM }),
  deleteStream: streamCases(`/ssf/streams?stream_id=${STREAM}`),
  getStreamStatus: streamCases(`/ssf/status?stream_id=${STREAM}`, undefined, 404),
  setStreamStatus: streamCases('/ssf/status', { stream_id: STREAM, status: 'paused' }),
  verifyStream: streamCases('/ssf/verify', { stream_id: STREAM }),
  pollStream: streamCases(`/ssf/streams/${STREAM}/poll`, { returnImmediately: true }),

  startConformanceRun: [
    {
      what: 'names a host of the service',
      outcomes: [400, 400, 400, 400, 401, 400, 401],
      call: () => ({ path: '/conformance/runs', body: { endpoint: 'https://svc.test/' } }),
    },
  ],
  getConformanceRun: [
    {
      what: 'names a run of the operator',
      outcomes: [404, 404, 404, 404, 401, every(200), 401],
      call: ({ conformanceRunId }) => ({ path: `/conformance/runs/${conformanceRunId}` }),
    },
  ],
};

/** Names a subscription that does not exist; the tests of the endpoints show that those of others look the same. */
function subscriptionCases(action: string, orgRead = 403, body?: unknown): readonly Case[] {
  return [
    {
      what: 'names a subscription of nobody',
      outcomes: [404, 404, orgRead, 404, 401, 401, 401],
      call: () => ({
        path: `/event-subscriptions/whs_01M7VZGC008Q2R7V9X1C4E6H8R/${action}`,
        ...(body === undefined ? {} : { body }),
      }),
    },
  ];
}

/** Names a stream that does not exist; the tests of the endpoints show that those of others look the same. */
function streamCases(path: string, body?: unknown, orgRead = 403): readonly Case[] {
  return [
    {
      what: 'names a stream of nobody',
      outcomes: [404, 404, orgRead, 404, 401, 401, 401],
      call: () => ({ path, ...(body === undefined ? {} : { body }) }),
    },
  ];
}

/** A filter selects from what the key may read; only `rp` can name something that it may not. */
function decisionListCases(path: string): readonly Case[] {
  return [
    {
      what: 'names a relying party',
      outcomes: [own(200), 401, members(200), members(200), 401, 200, 401],
      call: ({ relyingParty }) => ({ path: `${path}?rp=${relyingParty}` }),
    },
    {
      what: 'names a Principal, a Grant and a key',
      outcomes: [200, 401, 200, 200, 401, 200, 401],
      call: ({ principal, grantId, relyingPartyKeyId }) => ({
        path: `${path}?principal=${principal}&grant_id=${grantId}&key_id=${relyingPartyKeyId}`,
      }),
    },
    {
      what: 'names nobody',
      outcomes: [200, 401, 200, 200, 401, 200, 401],
      call: () => ({ path }),
    },
  ];
}

/** Interface §Principal lifecycle: the only place where another's key is answered 403 and an absent one 404. */
function signingKeyCases(operation: 'retire' | 'compromise'): readonly Case[] {
  return [
    {
      what: 'names a Principal and its key',
      outcomes: [401, [200, 403, 403, 403], 403, members(200), 401, 401, 401],
      call: ({ principal, kid }) => ({ path: `/keys/${encoded(kid)}/${operation}?principal=${principal}` }),
    },
    {
      what: 'names a key, for the Principal of the caller',
      outcomes: [401, [200, 403, 403, 404], 403, [200, 403, 403, 404], 401, 401, 401],
      call: ({ kid }, { principal }) => ({
        path: `/keys/${encoded(kid)}/${operation}?principal=${principal}`,
      }),
    },
  ];
}

/** Each pause belongs to one subject. */
function pauseCases(path: '/pauses' | '/pauses/resume'): readonly Case[] {
  return [
    {
      what: 'names a Principal and its Grant',
      outcomes: [403, [200, 403, 403, 403], 403, members(200), 401, 401, 401],
      call: ({ principal, grantId }) => ({
        path: `${path}?principal=${principal}`,
        body: { scope: 'grant', subject: grantId },
      }),
    },
    {
      what: 'names a Grant, for the Principal of the caller',
      outcomes: [403, own(200), 403, own(200), 401, 401, 401],
      call: ({ grantId }, { principal }) => ({
        path: `${path}?principal=${principal}`,
        body: { scope: 'grant', subject: grantId },
      }),
    },
    {
      what: 'names an Agent, for the Principal of the caller',
      outcomes: [403, own(200), 403, own(200), 401, 401, 401],
      call: ({ agent }, { principal }) => ({
        path: `${path}?principal=${principal}`,
        body: { scope: 'agent', subject: agent },
      }),
    },
    {
      what: 'names a Principal',
      outcomes: [403, [200, 403, 403, 403], 403, members(200), 401, 401, 401],
      call: ({ principal }) => ({ path, body: { scope: 'principal', subject: principal } }),
    },
    {
      what: 'names a relying party',
      outcomes: [[200, 403, 403, 403], 403, 403, members(200), 401, 401, 401],
      call: ({ relyingParty }) => ({ path, body: { scope: 'relying_party', subject: relyingParty } }),
    },
    {
      what: 'names an org',
      outcomes: [403, 403, 403, members(200), 401, 401, 401],
      call: ({ orgId }) => ({ path, body: { scope: 'org', subject: orgId } }),
    },
  ];
}

function ownDecisionCases(part: '' | '/export' | '/stats' | '/activity?by=agent'): readonly Case[] {
  return [
    {
      what: 'names a Principal',
      outcomes: [401, own(200), members(200), members(200), 401, 401, 401],
      call: ({ principal }) => ({ path: `/principals/${principal}/decisions${part}` }),
    },
    {
      what: 'names a relying party, for the Principal of the caller: it narrows what is its own',
      outcomes: [401, 200, 200, 200, 401, 401, 401],
      call: ({ relyingParty }, { principal }) => ({
        path: `/principals/${principal}/decisions${part}${part.includes('?') ? '&' : '?'}rp=${relyingParty}`,
      }),
    },
  ];
}
