/** Pauses (protocol §9): what is stopped for a while, and goes on. */
import { z } from 'zod';
import { cursor, didWeb, pageLimit } from '../formats.ts';
import { pause, pauseList, pauseRequest, pauseScope, resumed, resumeRequest } from '../resources/pause.ts';
import { defineRoute, json } from '../route.ts';

const acting = z.strictObject({
  principal: didWeb.optional().meta({
    description: 'Org keys: the member Principal whose Grant or Agent it is (required for these).',
  }),
});

const errors = {
  NOT_FOUND: 'Not something that this key may pause or resume.',
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
      'Stops a Grant, an Agent’s Grants of one Principal, all of a Principal, a relying party, or an org with its members, until',
      'it is resumed. A 200 means what the 200 of `POST /revoke` means: no verification that starts after it, and none still',
      'under way, is allowed. No status list says it. Repeating the call is harmless: who paused first, and why, stands.',
      '',
      'A Grant, an Agent or a Principal is paused by the Principal’s key or, with `principal` or as the `subject`, its org’s;',
      'a relying party by its own or its org’s; an org by its own. Verifications are then denied: with `AUTHORITY_REVOKED` and no',
      'status list where the Grant’s side is paused, with `SERVICE_UNAVAILABLE` where the relying party’s is.',
    ].join('\n'),
    auth: ['principal', 'rp', 'org:admin'],
    limiter: 'authenticated',
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
      'Ends a pause. A 200 means that no decision stored from now on is denied for it. Whatever else is paused stays so: a Grant of',
      'a paused Agent waits for both. Repeating the call is harmless, as is resuming what is not paused.',
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
    summary: 'List what is paused',
    description: [
      'Newest first. A key sees what is paused of its subject, an org key of its members too; and besides, where they are',
      'paused, its org and the whole service. The operator sees all.',
    ].join('\n'),
    auth: ['principal', 'rp', 'org', 'admin'],
    limiter: 'authenticated',
    query: z.strictObject({ scope: pauseScope.optional(), limit: pageLimit, cursor: cursor.optional() }),
    responses: { 200: json(pauseList, 'One page of what is paused.') },
    errors: {},
  }),
} as const;
