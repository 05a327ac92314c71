/** Orgs: accounts, their members and their own keys (interface §Org). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  addMember,
  createOrg,
  getOrg,
  issueOwnedKey,
  listMembers,
  listOwnedKeys,
  type OrgMembers,
  type OrgRecord,
  orgOwner,
  type PrincipalMemberRecord,
  type RelyingPartyRecord,
  revokeOwnedKey,
  type ServiceDeps,
  type ServiceIdentity,
  verificationOf,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { presentIssuedKey, presentKey, presentRevokedKey } from './api-keys.ts';

export const orgEndpoints = (deps: ServiceDeps): HandlersOf<'orgs'> => ({
  createOrg: async ({ body }) => ({ status: 201, body: presentOrg(await createOrg(deps, body)) }),

  getOrg: async ({ caller, params }) => {
    const org = await getOrg(deps, caller, params.org_id);
    const members = presentMembers(deps.identity, await listMembers(deps, org.orgId));
    return { status: 200, body: { ...presentOrg(org), members } };
  },

  addOrgMember: async ({ caller, params, body }) => {
    const kind = await addMember(deps, caller, params.org_id, body);
    return { status: 201, body: { org_id: params.org_id, did: body.did, kind } };
  },

  listOrgApiKeys: async ({ caller, params }) => {
    const keys = await listOwnedKeys(deps, await orgOwner(deps, caller, params.org_id));
    return { status: 200, body: { org_id: params.org_id, keys: keys.map(presentKey) } };
  },

  issueOrgApiKey: async ({ caller, params, body, requestId }) => {
    const owner = await orgOwner(deps, caller, params.org_id);
    const key = { role: `org:${body.role}`, label: body.label ?? null } as const;
    return { status: 201, body: presentIssuedKey(await issueOwnedKey(deps, caller, owner, key, requestId)) };
  },

  revokeOrgApiKey: async ({ caller, params, requestId }) => {
    const owner = await orgOwner(deps, caller, params.org_id);
    const revoked = await revokeOwnedKey(deps, caller, owner, params.key_id, requestId);
    return { status: 200, body: presentRevokedKey(revoked) };
  },
});

type OrgMember = Body<Routes['getOrg'], 200>['members'][number];

export const presentOrg = ({
  orgId,
  slug,
  name,
  createdAtMs,
}: OrgRecord): Body<Routes['createOrg'], 201> => ({
  org_id: orgId,
  slug,
  name,
  created_at: formatTimestamp(createdAtMs),
});

export const presentMembers = (
  identity: ServiceIdentity,
  { principals, relyingParties }: OrgMembers,
): OrgMember[] => [
  ...principals.map((principal) => presentPrincipalMember(identity, principal)),
  ...relyingParties.map(presentRelyingPartyMember),
];

const presentPrincipalMember = (identity: ServiceIdentity, principal: PrincipalMemberRecord): OrgMember => ({
  did: principal.did,
  kind: 'principal',
  created_at: formatTimestamp(principal.createdAtMs),
  principal_kind: principal.kind,
  domain: principal.domain,
  verification_state: principal.verificationState,
  verification: verificationOf(identity, principal),
});

const presentRelyingPartyMember = (relyingParty: RelyingPartyRecord): OrgMember => ({
  did: relyingParty.did,
  kind: 'relying_party',
  created_at: formatTimestamp(relyingParty.createdAtMs),
  name: relyingParty.name,
  proof_window_seconds: relyingParty.proofWindowSeconds,
  verify_rate_limit_per_minute: relyingParty.verifyRateLimitPerMinute,
});
