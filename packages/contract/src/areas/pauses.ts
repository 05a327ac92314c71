/** Pauses (protocol §9): authority that is suspended for a while and can be resumed. */
import { z } from 'zod';
import { cursor, didWeb, pageLimit } from '../formats.ts';
import { pause, pauseList, pauseRequest, pauseScope, resumed, resumeRequest } from '../resources/pause.ts';
import { defineRoute, json } from '../route.ts';

const acting = z.strictObject({
  principal: didWeb.optional().meta({
    description:
      'Org keys: the member Principal to which the Grant or Agent belongs (required for Grants and Agents).',
  }),
});

const errors = {
  NOT_FOUND: 'This key may not pause or resume this subject.',
  SERVICE_UNAVAILABLE:
    'Recorded but not yet visible to every verification, or storage is unreachable. Repeat the call.',
} as const;

export const pauseRoutes = {
  pause: defineRoute({
    method: 'post',
    path: '/pauses',
    tag: 'Pauses',
    summary: 'Pause',
    description: [
      'Pauses a Grant, the Grants of one Principal to an Agent, a whole Principal, a relying party, or an org with its',
      'members, until it is resumed. A 200 means the same as the 200 of `POST /revoke`: no verification that starts',
      'after it, and none still in progress, is allowed. Status lists do not show a pause. You may repeat the call: the',
      'first caller and reason stay.',
      '',
      'A Principal’s key pauses its Grants, its Agents and the Principal. The org of the Principal pauses them too,',
      'with `principal` or with the Principal as the `subject`. A relying party is paused by its own key or its org’s,',
      'and an org by its own key. A verification is denied with `AUTHORITY_REVOKED` and no status list if the Grant’s',
      'side is paused, and with `SERVICE_UNAVAILABLE` if the relying party’s side is paused.',
    ].join('\n'),
    auth: ['principal', 'rp', 'org:admin'],
    limiter: 'authenticated',
    withdraws: true,
    query: acting,
    body: pauseRequest,
    responses: { 200: json(pause, 'Paused, and visible everywhere.') },
    errors,
  }),

  resume: defineRoute({
    method: 'post',
    path: '/pauses/resume',
    tag: 'Pauses',
    summary: 'Resume',
    description: [
      'Ends a pause. A 200 means that no decision stored from now on is denied because of it. Every other pause stays:',
      'a Grant that is paused itself and whose Agent is paused is allowed only after both pauses have ended. You may',
      'repeat the call, and you may resume what is not paused.',
    ].join('\n'),
    auth: ['principal', 'rp', 'org:admin'],
    limiter: 'authenticated',
    query: acting,
    body: resumeRequest,
    responses: { 200: json(resumed, 'Resumed, and visible everywhere.') },
    errors,
  }),

  listPauses: defineRoute({
    method: 'get',
    path: '/pauses',
    tag: 'Pauses',
    summary: 'List pauses',
    description: [
      'Newest first. A key sees the pauses of its subject, and an org key also those of its members. If its org or the',
      'whole service is paused, the key sees this too. The operator sees all pauses.',
    ].join('\n'),
    auth: ['principal', 'rp', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({ scope: pauseScope.optional(), limit: pageLimit, cursor: cursor.optional() }),
    responses: { 200: json(pauseList, 'One page of pauses.') },
    errors: {},
  }),
} as const;
