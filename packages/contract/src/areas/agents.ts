/** Agents (interface §Endpoints, Principal lifecycle). */
import { z } from 'zod';
import { didKey } from '../formats.ts';
import { actingFor } from '../parameters.ts';
import { agent, agentDisabled, agentRequest } from '../resources/agent.ts';
import { defineRoute, json } from '../route.ts';

export const agentRoutes = {
  registerAgent: defineRoute({
    method: 'post',
    path: '/agents',
    tag: 'Agents',
    summary: 'Register an Agent',
    description:
      'Adds an Agent to the Principal’s inventory. Grants may also name Agents that are not in it.',
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    query: actingFor,
    body: agentRequest,
    responses: { 201: json(agent, 'Registered.') },
    errors: {
      NOT_FOUND: 'The Principal to act for is not a member of this org.',
      CONFLICT: 'This Principal has registered the Agent already.',
    },
  }),

  disableAgent: defineRoute({
    method: 'post',
    path: '/agents/{did}/disable',
    tag: 'Agents',
    summary: 'Disable an Agent',
    description: [
      'The kill switch: revokes every Grant of the Principal that names the Agent. A 200 means that all of them are',
      'visible as revoked everywhere, as after `POST /revoke`. You may repeat the call; it then also revokes Grants',
      'allocated to the Agent since. A 503 means that the revocation may be recorded but is not yet visible: repeat the',
      'call.',
    ].join('\n'),
    auth: ['principal', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    params: z.strictObject({ did: didKey }),
    query: actingFor,
    responses: { 200: json(agentDisabled, 'Disabled: every Grant naming the Agent is revoked.') },
    errors: {
      NOT_FOUND: 'The Principal has not registered this Agent, and no Grant of the Principal names it.',
      SERVICE_UNAVAILABLE:
        'Recorded but not yet visible to every verification, or storage is unreachable. Repeat the call.',
    },
  }),
} as const;
