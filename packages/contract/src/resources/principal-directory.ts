/** The public view of a Principal (interface §PrincipalDirectoryEntry): no token, no org. */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didWeb, jsonObject, keyId, timestamp } from '../formats.ts';
import { principal, principalKind, verificationState } from './principal.ts';
import { keyState } from './signing-key.ts';

const exampleEntry = {
  did: EXAMPLE.principal,
  kind: 'managed',
  domain: 'svc.example',
  verification: {
    state: 'verified',
    verified_since: EXAMPLE.at,
    last_checked_at: EXAMPLE.at,
    method: 'svc-hosted',
  },
  keys: [{ kid: EXAMPLE.signingKey, state: 'active', since: EXAMPLE.at }],
  did_document: {
    '@context': ['https://www.w3.org/ns/did/v1'],
    id: EXAMPLE.principal,
    verificationMethod: [],
  },
  registered_at: EXAMPLE.at,
  may_be_named: false,
};

const principalDirectoryEntry = z
  .strictObject({
    did: didWeb,
    kind: principalKind,
    domain: z.string(),
    verification: z.strictObject({
      state: verificationState,
      verified_since: timestamp.nullable(),
      last_checked_at: timestamp.nullable(),
      method: z.enum(['domain', 'svc-hosted']).meta({
        description: '`svc-hosted`: a managed Principal, verified by construction.',
      }),
    }),
    keys: z
      .array(z.strictObject({ kid: keyId, state: keyState, since: timestamp }))
      .meta({ description: 'Every verification method that the service has ever seen.' }),
    did_document: z
      .union([jsonObject, z.null()])
      .meta({ description: 'The document in force; null if the service has none yet.' }),
    registered_at: timestamp,
    may_be_named: z.boolean().optional(),
  })
  .meta({
    id: 'PrincipalDirectoryEntry',
    description: 'The record of a Principal as every caller with a key may read it.',
    example: exampleEntry,
  });

export const principalDirectory = z
  .strictObject({ principals: z.array(principalDirectoryEntry), next_cursor: didWeb.nullable() })
  .meta({
    id: 'PrincipalDirectory',
    description:
      'One page of the directory of Principals. `next_cursor` is the `cursor` of the next page; null on the last page.',
    example: { principals: [exampleEntry], next_cursor: null },
  });

/** The full record for the Principal, its org and the operator; the directory entry for everybody else. */
export const principalView = z
  .union([principal, principalDirectoryEntry])
  .meta({ example: principal.meta()?.example });
