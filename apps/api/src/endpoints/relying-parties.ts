/** Relying parties: registration and settings (interface §Relying party). */
import type { Body, Input, Routes } from '@svc/contract';
import { formatTimestamp } from '@svc/protocol';
import {
  type Authenticator,
  createRelyingParty,
  domainOf,
  getRelyingParty,
  proofPlaces,
  type RelyingPartyChange,
  type RelyingPartyCreated,
  type RelyingPartyRecord,
  type ServiceDeps,
  type ServiceIdentity,
  updateRelyingParty,
  verifyRelyingParty,
} from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const relyingPartyEndpoints = (
  deps: ServiceDeps,
  authenticator: Pick<Authenticator, 'forget'>,
): HandlersOf<'relying-parties'> => ({
  createRelyingParty: async ({ caller, body, requestId }) => {
    const created = await createRelyingParty(deps, caller, body, requestId);
    return { status: 201, body: presentRelyingPartyCreated(deps.identity, created) };
  },

  getRelyingParty: async ({ caller, params }) => {
    const relyingParty = await getRelyingParty(deps, caller, params.did);
    return { status: 200, body: presentRelyingParty(deps.identity, relyingParty) };
  },

  updateRelyingParty: async ({ caller, params, body, requestId }) => {
    const change = changeOf(body);
    const relyingParty = await updateRelyingParty(deps, caller, params.did, change, requestId);
    authenticator.forget(relyingParty.did);
    return { status: 200, body: presentRelyingParty(deps.identity, relyingParty) };
  },

  verifyRelyingParty: async ({ caller, params, requestId }) => {
    const relyingParty = await verifyRelyingParty(deps, caller, params.did, requestId);
    authenticator.forget(relyingParty.did);
    return { status: 200, body: presentRelyingParty(deps.identity, relyingParty) };
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

/** Left out unless the domain is still to be proven. */
const presentClaim = (
  identity: ServiceIdentity,
  { did, claimExpiresAtMs, verificationToken }: RelyingPartyRecord,
) => {
  if (claimExpiresAtMs === null || verificationToken === null) return {};
  const { dns_txt, well_known } = proofPlaces(identity, {
    did,
    domain: domainOf(did),
    token: verificationToken,
  });
  return { claim: { expires_at: formatTimestamp(claimExpiresAtMs), dns_txt, well_known } };
};

const settings = (relyingParty: RelyingPartyRecord) => ({
  did: relyingParty.did,
  name: relyingParty.name,
  proof_window_seconds: relyingParty.proofWindowSeconds,
  verify_rate_limit_per_minute: relyingParty.verifyRateLimitPerMinute,
  created_at: formatTimestamp(relyingParty.createdAtMs),
});

const presentRelyingParty = (
  identity: ServiceIdentity,
  relyingParty: RelyingPartyRecord,
): Body<Routes['getRelyingParty'], 200> => ({
  ...settings(relyingParty),
  org_id: relyingParty.orgId,
  profile: relyingParty.profile,
  ...presentClaim(identity, relyingParty),
});

const presentRelyingPartyCreated = (
  identity: ServiceIdentity,
  { relyingParty, apiKey, apiKeyId }: RelyingPartyCreated,
): Body<Routes['createRelyingParty'], 201> => ({
  ...settings(relyingParty),
  api_key: apiKey,
  api_key_id: apiKeyId,
  ...presentClaim(identity, relyingParty),
});
