/** Health and DID documents (interface §Other records). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didWeb, keyId, publicKeyMultibase, timestamp } from '../formats.ts';

export const health = z
  .strictObject({
    ok: z.boolean(),
    env: z.enum(['development', 'production']).optional(),
    did: didWeb.optional(),
  })
  .meta({ id: 'Health', example: { ok: true, env: 'production', did: 'did:web:svc.example' } });

export const exampleDidDocument = {
  '@context': ['https://www.w3.org/ns/did/v1', 'https://w3id.org/security/multikey/v1'],
  id: EXAMPLE.principal,
  verificationMethod: [
    {
      id: `${EXAMPLE.principal}#key-1`,
      type: 'Multikey',
      controller: EXAMPLE.principal,
      publicKeyMultibase: EXAMPLE.publicKey,
    },
  ],
  assertionMethod: [`${EXAMPLE.principal}#key-1`],
};

export const didDocument = z
  .strictObject({
    '@context': z.array(z.string()),
    id: didWeb,
    verificationMethod: z.array(
      z.strictObject({
        ...{ id: keyId, type: z.literal('Multikey'), controller: didWeb, publicKeyMultibase },
        'svc:validFrom': timestamp.optional(),
        'svc:validUntil': timestamp.optional(),
        revoked: timestamp.optional(),
      }),
    ),
    assertionMethod: z.array(keyId).optional(),
  })
  .meta({
    id: 'DidDocument',
    description: [
      'In the document of the service, `svc:validFrom` and `svc:validUntil` say when a key is in force, and `revoked` that somebody',
      'else may have it: what it signed outside that time counts only with an inclusion proof and its attestation.',
    ].join('\n'),
    example: exampleDidDocument,
  });
