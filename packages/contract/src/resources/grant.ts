/** Grant allocation, list and revocation (interface §Grant allocation, status entry, summary). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didKey, didWeb, grantId, timestamp, uri } from '../formats.ts';

const credentialStatus = z
  .strictObject({
    id: z.string(),
    type: z.literal('BitstringStatusListEntry'),
    statusPurpose: z.literal('revocation'),
    statusListIndex: z.string().regex(/^(0|[1-9][0-9]*)$/),
    statusListCredential: uri,
  })
  .meta({ id: 'CredentialStatus', description: 'Put it into the Grant as `credentialStatus`, unchanged.' });

export const grantAllocationRequest = z
  .strictObject({ agent: didKey.meta({ description: 'The Agent that will hold the Grant.' }) })
  .meta({ id: 'GrantAllocationRequest', example: { agent: EXAMPLE.agent } });

export const grantAllocation = z
  .strictObject({ id: grantId, issuer: didWeb, agent: didKey, credentialStatus, allocated_at: timestamp })
  .meta({
    id: 'GrantAllocation',
    example: {
      id: EXAMPLE.grantId,
      issuer: EXAMPLE.principal,
      agent: EXAMPLE.agent,
      credentialStatus: {
        id: `${EXAMPLE.statusList}#${EXAMPLE.statusIndex}`,
        type: 'BitstringStatusListEntry',
        statusPurpose: 'revocation',
        statusListIndex: String(EXAMPLE.statusIndex),
        statusListCredential: EXAMPLE.statusList,
      },
      allocated_at: EXAMPLE.at,
    },
  });

export const grantState = z.enum(['active', 'revoked']);

const grantSummary = z
  .strictObject({
    id: grantId,
    principal: didWeb,
    agent: didKey,
    status_list: uri,
    status_list_index: z.int().min(0),
    allocated_at: timestamp,
    revoked_at: timestamp.nullable(),
    state: grantState,
  })
  .meta({
    id: 'GrantSummary',
    description:
      'The service’s record of a Grant. What the Grant allows is signed by the Principal and not stored here.',
  });

export const grantList = z
  .strictObject({ grants: z.array(grantSummary), next_cursor: z.string().nullable() })
  .meta({
    id: 'GrantList',
    description:
      'One page of Grants, newest first. `next_cursor` is the `cursor` of the next page; null on the last page.',
    example: {
      grants: [
        {
          id: EXAMPLE.grantId,
          principal: EXAMPLE.principal,
          agent: EXAMPLE.agent,
          status_list: EXAMPLE.statusList,
          status_list_index: EXAMPLE.statusIndex,
          allocated_at: EXAMPLE.at,
          revoked_at: null,
          state: 'active',
        },
      ],
      next_cursor: null,
    },
  });

export const revokeRequest = z
  .strictObject({ grant_id: grantId })
  .meta({ id: 'RevokeRequest', example: { grant_id: EXAMPLE.grantId } });

export const revokeResponse = z
  .strictObject({ grant_id: grantId, revoked: z.literal(true), revoked_at: timestamp })
  .meta({
    id: 'RevokeResponse',
    example: { grant_id: EXAMPLE.grantId, revoked: true, revoked_at: EXAMPLE.at },
  });
