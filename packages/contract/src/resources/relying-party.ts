/** Relying party (interface §Relying party). */
import { PROFILE_IDS, PROOF_WINDOW_MAX_SECONDS } from '@svc/protocol';
import { z } from 'zod';
import { EXAMPLE, exampleApiKey } from '../examples.ts';
import { apiKey, apiKeyId, didWeb, displayName, integer, orgId, slug, timestamp } from '../formats.ts';

/** Greatest age of a Proof, in seconds. */
const proofWindowSeconds = integer(1, PROOF_WINDOW_MAX_SECONDS);
const verifyRateLimitPerMinute = integer(1, 1_000_000);
export const profile = z.enum(PROFILE_IDS).meta({
  description:
    'The set of checks that decide its verifications. `svc-base-v2` supports budgets that are used up.',
});

const settings = {
  name: displayName.optional(),
  proof_window_seconds: proofWindowSeconds.default(60),
  verify_rate_limit_per_minute: verifyRateLimitPerMinute.default(600),
  profile: profile.default('svc-base-v1'),
  org_id: orgId.optional(),
};

export const relyingPartyCreateRequest = z
  .discriminatedUnion('kind', [
    z.strictObject({ kind: z.literal('managed'), slug, ...settings }).meta({
      id: 'ManagedRelyingPartyRequest',
      description: 'The service gives it the DID `did:web:<domain>:rp:<slug>`.',
      example: { kind: 'managed', slug: 'shop', name: 'Shop' },
    }),
    z.strictObject({ kind: z.literal('hosted'), did: didWeb, ...settings }).meta({
      id: 'HostedRelyingPartyRequest',
      description: 'The relying party uses its own DID.',
      example: { kind: 'hosted', did: 'did:web:shop.example', name: 'Shop' },
    }),
  ])
  .meta({ id: 'RelyingPartyCreateRequest' });

export const relyingPartyUpdateRequest = z
  .strictObject({
    name: displayName.optional(),
    proof_window_seconds: proofWindowSeconds.optional(),
    verify_rate_limit_per_minute: verifyRateLimitPerMinute.optional(),
    profile: profile.optional(),
  })
  .meta({ id: 'RelyingPartyUpdateRequest', example: { proof_window_seconds: 120 } });

export const relyingParty = z
  .strictObject({
    did: didWeb,
    name: z.string(),
    proof_window_seconds: proofWindowSeconds,
    verify_rate_limit_per_minute: verifyRateLimitPerMinute,
    created_at: timestamp,
    org_id: orgId.nullable().optional(),
    profile: profile.optional(),
  })
  .meta({
    id: 'RelyingParty',
    description: 'A relying party with its settings.',
    example: {
      did: EXAMPLE.relyingParty,
      name: 'Shop',
      proof_window_seconds: 60,
      verify_rate_limit_per_minute: 600,
      created_at: EXAMPLE.at,
      profile: 'svc-base-v1',
    },
  });

export const relyingPartyCreated = z
  .strictObject({
    did: didWeb,
    name: z.string(),
    proof_window_seconds: proofWindowSeconds,
    created_at: timestamp,
    api_key: apiKey,
    api_key_id: apiKeyId,
    verify_rate_limit_per_minute: verifyRateLimitPerMinute,
  })
  .meta({
    id: 'RelyingPartyCreated',
    example: {
      did: EXAMPLE.relyingParty,
      name: 'Shop',
      proof_window_seconds: 60,
      created_at: EXAMPLE.at,
      api_key: exampleApiKey('dk_rp_'),
      api_key_id: EXAMPLE.keyId,
      verify_rate_limit_per_minute: 600,
    },
  });
