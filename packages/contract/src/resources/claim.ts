/** The operator's word on whose a DID is (protocol §13, Claims). Beyond the interface. */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didWeb, orgId } from '../formats.ts';

const kind = z.enum(['principal', 'relying_party']).meta({
  description: 'A DID can be both, of different orgs.',
});

export const claimReleaseRequest = z
  .strictObject({ kind })
  .meta({ id: 'ClaimReleaseRequest', example: { kind: 'relying_party' } });

export const claimReleased = z.strictObject({ did: didWeb, kind, released: z.literal(true) }).meta({
  id: 'ClaimReleased',
  example: { did: EXAMPLE.relyingParty, kind: 'relying_party', released: true },
});

export const claimTransferRequest = z
  .strictObject({ kind, org_id: orgId.nullable().meta({ description: 'Null: it is in no org then.' }) })
  .meta({ id: 'ClaimTransferRequest', example: { kind: 'principal', org_id: EXAMPLE.orgId } });

export const claimTransferred = z.strictObject({ did: didWeb, kind, org_id: orgId.nullable() }).meta({
  id: 'ClaimTransferred',
  example: { did: EXAMPLE.principal, kind: 'principal', org_id: EXAMPLE.orgId },
});
