/** Self-serve records (interface §Self-serve and sandbox records). */
import { z } from 'zod';
import { EXAMPLE, exampleApiKey } from '../examples.ts';
import {
  apiKey,
  compactJws,
  didWeb,
  displayName,
  emailAddress,
  grantId,
  slug,
  timestamp,
  uri,
} from '../formats.ts';
import { org } from './org.ts';
import { profile } from './relying-party.ts';
import { purchaseAction } from './sandbox.ts';

export const selfServeRequest = z
  .strictObject({
    slug: slug.meta({ description: 'Becomes the slug of the org and of its relying party.' }),
    name: displayName,
    admin_email: emailAddress.meta({ description: 'Stored only for the operator; no answer shows it.' }),
  })
  .meta({
    id: 'SelfServeRequest',
    example: { slug: 'acme', name: 'Acme', admin_email: 'admin@acme.example' },
  });

export const selfServeRpRequest = z
  .strictObject({
    rp_did: didWeb.meta({ description: 'A relying party that `POST /orgs/self-serve` made.' }),
  })
  .meta({ id: 'SelfServeRpRequest', example: { rp_did: EXAMPLE.relyingParty } });

const starterExample = {
  grant: EXAMPLE.jws,
  proof: EXAMPLE.jws,
  action: { type: 'commerce:purchase', resource: 'sandbox/order-1', amount: 1_000, currency: 'USD' },
  grant_id: EXAMPLE.grantId,
  expires_at: '2026-11-20T08:05:00Z',
  verify_url: 'https://svc.example/verify',
  verify_curl:
    "curl -sS 'https://svc.example/verify' -H 'Authorization: Bearer <rp_verify_key>' --data '{…}'",
} as const;

export const selfServeStarter = z
  .strictObject({
    grant: compactJws.meta({
      description: 'Signed by the sandbox Principal, for an Agent that is used only for this starter.',
    }),
    proof: compactJws.meta({ description: 'For this relying party. It can be used for one ALLOW.' }),
    action: purchaseAction,
    grant_id: grantId,
    expires_at: timestamp.meta({ description: 'When the Proof becomes too old for this relying party.' }),
    verify_url: uri,
    verify_curl: z
      .string()
      .meta({ description: 'For a shell, after you replace `<rp_verify_key>` with the RP key.' }),
  })
  .meta({ id: 'SelfServeStarter', example: starterExample });

export const selfServeBundle = z
  .strictObject({
    org,
    org_admin_key: apiKey,
    relying_party: z.strictObject({
      did: didWeb,
      name: z.string(),
      profile,
      proof_window_seconds: z.int(),
    }),
    rp_verify_key: apiKey,
    starter: selfServeStarter,
  })
  .meta({
    id: 'SelfServeBundle',
    example: {
      org: { org_id: EXAMPLE.orgId, slug: 'acme', name: 'Acme', created_at: EXAMPLE.at },
      org_admin_key: exampleApiKey('dk_org_admin_'),
      relying_party: {
        did: 'did:web:svc.example:rp:acme',
        name: 'Acme',
        profile: 'svc-base-v1',
        proof_window_seconds: 300,
      },
      rp_verify_key: exampleApiKey('dk_rp_'),
      starter: starterExample,
    },
  });
