/** Grants on the wire (interface §Grant allocation, status entry, summary). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { GrantAllocation, GrantRecord, Revocation } from '@svc/service';

export const presentAllocation = ({
  grant,
  credentialStatus,
}: GrantAllocation): Body<Routes['allocateGrant'], 201> => ({
  id: grant.id,
  issuer: grant.principal,
  agent: grant.agent,
  credentialStatus,
  allocated_at: formatTimestamp(grant.allocatedAtMs),
});

type GrantSummary = Body<Routes['listGrants'], 200>['grants'][number];

/** A recorded revocation already denies, so the state says so; `revoked_at` follows when the barrier has passed. */
export const presentGrantSummary = (grant: GrantRecord): GrantSummary => ({
  id: grant.id,
  principal: grant.principal,
  agent: grant.agent,
  status_list: grant.statusListUrl,
  status_list_index: grant.statusIndex,
  allocated_at: formatTimestamp(grant.allocatedAtMs),
  revoked_at: grant.revokedAtMs === null ? null : formatTimestamp(grant.revokedAtMs),
  state: grant.revocationRecordedAtMs === null ? 'active' : 'revoked',
});

export const presentRevocation = ({
  grantId,
  revokedAtMs,
}: Revocation): Body<Routes['revokeGrant'], 200> => ({
  grant_id: grantId,
  revoked: true,
  revoked_at: formatTimestamp(revokedAtMs),
});
