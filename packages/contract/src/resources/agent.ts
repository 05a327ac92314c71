/** Agent (interface §Agent). */
import { z } from 'zod';
import { EXAMPLE } from '../examples.ts';
import { didKey, didWeb, grantId, timestamp } from '../formats.ts';

export const agentRequest = z
  .strictObject({ did: didKey })
  .meta({ id: 'AgentRequest', example: { did: EXAMPLE.agent } });

export const agent = z.strictObject({ did: didKey, principal: didWeb, created_at: timestamp }).meta({
  id: 'Agent',
  description: 'An Agent in a Principal’s inventory. No verification uses the inventory.',
  example: { did: EXAMPLE.agent, principal: EXAMPLE.principal, created_at: EXAMPLE.at },
});

export const agentDisabled = z
  .strictObject({
    did: didKey,
    disabled_at: timestamp.meta({ description: 'No ALLOW under these Grants is dated later than this.' }),
    revoked_grants: z.array(grantId).meta({
      description:
        'Every Grant of the Principal that names the Agent, in ascending order; all of them are revoked.',
    }),
  })
  .meta({
    id: 'AgentDisabled',
    example: { did: EXAMPLE.agent, disabled_at: EXAMPLE.at, revoked_grants: [EXAMPLE.grantId] },
  });
