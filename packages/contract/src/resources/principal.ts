/** Principal (interface §Principal). */
import { z } from 'zod';
import { EXAMPLE, exampleApiKey } from '../examples.ts';
import {
  apiKey,
  apiKeyId,
  didWeb,
  keyFragment,
  orgId,
  publicKeyMultibase,
  slug,
  timestamp,
  uri,
} from '../formats.ts';

export const principalKind = z.enum(['managed', 'hosted']);
export const verificationState = z.enum(['verified', 'unverified']);

export const proofPlaces = {
  dns_txt: z.strictObject({ name: z.string(), value: z.string() }),
  well_known: z.strictObject({ url: uri, body: z.record(z.string(), z.unknown()) }),
};

export const verification = z
  .strictObject({
    state: verificationState,
    token: z.string(),
    ...proofPlaces,
    reverified_every_hours: z.literal(24),
    did_document_url: uri,
  })
  .meta({
    id: 'Verification',
    description:
      'Whether control of the domain is proven, and the two ways to prove it; one of them suffices.',
  });

const managedKey = z.strictObject({
  id: keyFragment
    .optional()
    .meta({ description: 'Fragment of the key in the DID document; default `key-<n>`.' }),
  publicKeyMultibase,
});

const managedPrincipalRequest = z
  .strictObject({
    kind: z.literal('managed'),
    slug,
    keys: z.array(managedKey).min(1).max(5),
    org_id: orgId.optional(),
  })
  .meta({
    id: 'ManagedPrincipalRequest',
    description: 'The service publishes the DID document: `did:web:<domain>:org:<slug>`.',
    example: { kind: 'managed', slug: 'acme', keys: [{ publicKeyMultibase: EXAMPLE.publicKey }] },
  });

const hostedPrincipalRequest = z
  .strictObject({ kind: z.literal('hosted'), did: didWeb, org_id: orgId.optional() })
  .meta({
    id: 'HostedPrincipalRequest',
    description: 'You publish the DID document and prove control of the domain.',
    example: { kind: 'hosted', did: 'did:web:acme.example' },
  });

export const principalCreateRequest = z
  .discriminatedUnion('kind', [managedPrincipalRequest, hostedPrincipalRequest])
  .meta({ id: 'PrincipalCreateRequest' });

const principalFields = {
  did: didWeb,
  kind: principalKind,
  domain: z.string(),
  verification,
  created_at: timestamp,
  org_id: orgId.nullable().optional(),
  may_be_named: z
    .boolean()
    .optional()
    .meta({ description: 'Consent to be named on the public metrics page.' }),
};

const example = {
  did: EXAMPLE.principal,
  kind: 'managed',
  domain: 'svc.example',
  verification: {
    state: 'verified',
    token: 'c29tZS10b2tlbg',
    dns_txt: { name: '_svc-challenge.svc.example', value: 'svc-verification=c29tZS10b2tlbg' },
    well_known: {
      url: 'https://svc.example/.well-known/svc-verification.json',
      body: { did: EXAMPLE.principal, token: 'c29tZS10b2tlbg' },
    },
    reverified_every_hours: 24,
    did_document_url: 'https://svc.example/org/acme/did.json',
  },
  created_at: EXAMPLE.at,
} as const;

export const principal = z.strictObject(principalFields).meta({
  id: 'Principal',
  description: 'A Principal’s own record, with what is needed to prove its domain.',
  example,
});

export const principalNamingRequest = z
  .strictObject({ may_be_named: z.boolean() })
  .meta({ id: 'PrincipalNamingRequest', example: { may_be_named: true } });

export const principalCreated = z
  .strictObject({
    ...principalFields,
    did_document_resolved: z.boolean(),
    api_key: apiKey,
    api_key_id: apiKeyId,
  })
  .meta({
    id: 'PrincipalCreated',
    example: {
      ...example,
      did_document_resolved: true,
      api_key: exampleApiKey('dk_principal_'),
      api_key_id: EXAMPLE.keyId,
    },
  });
