/** Relying parties: registration and settings (interface §Relying party). */
import type { Body, Input, Routes } from '@svc/contract';
import { formatTimestamp, isProfileId } from '@svc/protocol';
import {
  type Authenticator,
  createRelyingParty,
  type DomainChecks,
  getRelyingParty,
  openClaim,
  type RelyingPartyChange,
  type RelyingPartyCreated,
  type RelyingPartyRecord,
  type ServiceDeps,
  updateRelyingParty,
  verifyRelyingParty,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';
import { presentClaims } from './claims.ts';

export const relyingPartyEndpoints = (
  deps: ServiceDeps,
  checks: DomainChecks,
  authenticator: Pick<Authenticator, 'forget'>,
): HandlersOf<'relying-parties'> => ({
  createRelyingParty: async ({ caller, body, requestId }) => {
    const created = await createRelyingParty(checks.inTurn(deps, caller), caller, body, requestId);
    return { status: 201, body: presentRelyingPartyCreated(created) };
  },

  getRelyingParty: async ({ caller, params }) => {
    const relyingParty = await getRelyingParty(deps, caller, params.did);
    return { status: 200, body: presentRelyingParty(relyingParty) };
  },

  updateRelyingParty: async ({ caller, params, body, requestId }) => {
    const change = changeOf(body);
    const relyingParty = await updateRelyingParty(deps, caller, params.did, change, requestId);
    authenticator.forget(relyingParty.did);
    return { status: 200, body: presentRelyingParty(relyingParty) };
  },

  verifyRelyingParty: async ({ caller, params, requestId }) => {
    const relyingParty = await verifyRelyingParty(checks.inTurn(deps, caller), caller, params.did, requestId);
    authenticator.forget(relyingParty.did);
    const claims = openClaim('relying_party', relyingParty);
    return { status: 200, body: presentClaims(deps.identity, relyingParty.did, claims) };
  },
});

const changeOf = (body: Input<Routes['updateRelyingParty']>['body']): RelyingPartyChange => ({
  ...(body.name === undefined ? {} : { name: body.name }),
  ...(body.proof_window_seconds === undefined ? {} : { proofWindowSeconds: body.proof_window_seconds }),
  ...(body.verify_rate_limit_per_minute === undefined
    ? {}
    : { verifyRateLimitPerMinute: body.verify_rate_limit_per_minute }),
  ...(body.profile === undefined ? {} : { profile: body.profile }),
});

const settings = (relyingParty: RelyingPartyRecord) => ({
  did: relyingParty.did,
  name: relyingParty.name,
  proof_window_seconds: relyingParty.proofWindowSeconds,
  verify_rate_limit_per_minute: relyingParty.verifyRateLimitPerMinute,
  created_at: formatTimestamp(relyingParty.createdAtMs),
});

const presentRelyingParty = (relyingParty: RelyingPartyRecord): Body<Routes['getRelyingParty'], 200> => ({
  ...settings(relyingParty),
  org_id: relyingParty.orgId,
  // Absent where only a later version knows it, since the contract names the profiles of this one.
  ...(isProfileId(relyingParty.profile) && { profile: relyingParty.profile }),
});

const presentRelyingPartyCreated = ({
  relyingParty,
  apiKey,
  apiKeyId,
}: RelyingPartyCreated): Body<Routes['createRelyingParty'], 201> => ({
  ...settings(relyingParty),
  api_key: apiKey,
  api_key_id: apiKeyId,
});
