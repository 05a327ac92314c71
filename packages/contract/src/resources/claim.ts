/**
 * DIDs that orgs claim, and the operator's decision to whom one belongs (protocol §13, Claims). Beyond the interface.
 */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didWeb, orgId, timestamp } from '../formats.ts';
import { proofPlaces } from './principal.ts';

const kind = z.enum(['principal', 'relying_party']).meta({
  description: 'A DID can be both, in different orgs.',
});

export const didClaims = z
  .strictObject({
    did: didWeb,
    claims: z.array(z.strictObject({ kind, expires_at: timestamp, ...proofPlaces })),
  })
  .meta({
    id: 'DidClaims',
    description:
      'What must still be proven; empty when nothing must be. Publish one of the two proofs and have it checked. A DID that is not proven is released at `expires_at`.',
    example: {
      did: EXAMPLE.relyingParty,
      claims: [
        {
          kind: 'relying_party',
          expires_at: EXAMPLE.at,
          dns_txt: { name: '_svc-challenge.shop.example', value: 'svc-verification=3q2-7wAB' },
          well_known: {
            url: 'https://shop.example/.well-known/svc-verification.json',
            body: { did: EXAMPLE.relyingParty, token: '3q2-7wAB' },
          },
        },
      ],
    },
  });

export const claimReleaseRequest = z
  .strictObject({ kind })
  .meta({ id: 'ClaimReleaseRequest', example: { kind: 'relying_party' } });

export const claimReleased = z.strictObject({ did: didWeb, kind, released: z.literal(true) }).meta({
  id: 'ClaimReleased',
  example: { did: EXAMPLE.relyingParty, kind: 'relying_party', released: true },
});

export const claimTransferRequest = z
  .strictObject({ kind, org_id: orgId.nullable().meta({ description: 'Null: the DID is then in no org.' }) })
  .meta({ id: 'ClaimTransferRequest', example: { kind: 'principal', org_id: EXAMPLE.orgId } });

export const claimTransferred = z.strictObject({ did: didWeb, kind, org_id: orgId.nullable() }).meta({
  id: 'ClaimTransferred',
  example: { did: EXAMPLE.principal, kind: 'principal', org_id: EXAMPLE.orgId },
});
