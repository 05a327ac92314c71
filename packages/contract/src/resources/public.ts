/** Health, DID documents and the JWK Set (interface §Other records; RFC 7517). */
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
      'In the document of the service, `svc:validFrom` and `svc:validUntil` say when a key is in force, and `revoked`',
      'says that somebody else may have it. What it signed outside that time is accepted only with an inclusion proof',
      'and its attestation.',
    ].join('\n'),
    example: exampleDidDocument,
  });

const numericDate = z.int().min(0);

export const jwks = z
  .strictObject({
    keys: z.array(
      z.strictObject({
        ...{
          kty: z.literal('OKP'),
          crv: z.literal('Ed25519'),
          alg: z.literal('EdDSA'),
          use: z.literal('sig'),
        },
        ...{ kid: keyId, x: z.string().regex(/^[A-Za-z0-9_-]{43}$/) },
        ...{ nbf: numericDate.optional(), exp: numericDate.optional() },
      }),
    ),
  })
  .meta({
    id: 'JwkSet',
    description:
      'RFC 7517, RFC 8037. `nbf` and `exp` say when a key is in force, in seconds since the epoch.',
    example: {
      keys: [
        {
          ...{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig', kid: 'did:web:svc.example#receipt-1' },
          ...{ x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo', nbf: 1_795_132_800 },
        },
      ],
    },
  });
