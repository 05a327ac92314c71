/** Relying parties on the wire (interface §Relying party). */
import type { Body, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import type { RelyingPartyCreated, RelyingPartyRecord } from '@svc/service';

const settings = (relyingParty: RelyingPartyRecord) => ({
  did: relyingParty.did,
  name: relyingParty.name,
  proof_window_seconds: relyingParty.proofWindowSeconds,
  verify_rate_limit_per_minute: relyingParty.verifyRateLimitPerMinute,
  created_at: formatTimestamp(relyingParty.createdAtMs),
});

export const presentRelyingParty = (
  relyingParty: RelyingPartyRecord,
): Body<Routes['getRelyingParty'], 200> => ({
  ...settings(relyingParty),
  org_id: relyingParty.orgId,
  profile: relyingParty.profile,
});

export const presentRelyingPartyCreated = ({
  relyingParty,
  apiKey,
  apiKeyId,
}: RelyingPartyCreated): Body<Routes['createRelyingParty'], 201> => ({
  ...settings(relyingParty),
  api_key: apiKey,
  api_key_id: apiKeyId,
});
