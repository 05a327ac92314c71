/** Orgs on the wire (interface §Org). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type OrgMembers,
  type OrgRecord,
  type PrincipalRecord,
  type RelyingPartyRecord,
  type ServiceIdentity,
  verificationOf,
} from '@svc/service';

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

const presentPrincipalMember = (identity: ServiceIdentity, principal: PrincipalRecord): OrgMember => ({
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
