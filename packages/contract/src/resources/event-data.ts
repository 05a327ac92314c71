/** The content of an event's `data`, by event type (protocol §15). */
import { z } from 'zod';
import { integer } from '../formats.ts';
import { accessRequestStatus } from './access-request.ts';
import { pauseScope } from './pause.ts';

const id = z.string();
const decision = z.strictObject({
  receipt_id: id,
  relying_party: id,
  principal: id.nullable(),
  grant_id: id.nullable(),
  agent: id.nullable(),
});
const key = z.strictObject({ kid: id, principal: id });
const principal = z.strictObject({ principal: id });

const approval = z.strictObject({
  request_id: id,
  status: accessRequestStatus,
  relying_party: id,
  principal: id,
  grant_id: id,
  agent: id,
});

export const eventData = {
  'decision.allow': decision,
  'decision.deny': decision,
  'grant.revoked': z.strictObject({ grant_id: id, principal: id, agent: id }),
  'agent.disabled': z.strictObject({ agent: id, principal: id }),
  'key.retired': key,
  'key.compromised': key,
  'principal.verified': principal,
  'principal.unverified': principal,
  'checkpoint.published': z.strictObject({ day: z.iso.date() }),
  'outcome.reported': z.strictObject({
    attestation_id: id,
    receipt_id: id,
    relying_party: id,
    principal: id.nullable(),
    grant_id: id.nullable(),
  }),
  'budget.low': z.strictObject({
    grant_id: id,
    principal: id,
    key: id,
    percent: integer(1, 99),
  }),
  'pause.changed': z.strictObject({ scope: pauseScope, subject: id, paused: z.boolean() }),
  'approval.requested': approval,
  'approval.decided': approval,
  ping: z.strictObject({ subscription_id: id }),
} as const;

export type EventData = { readonly [Type in keyof typeof eventData]: z.infer<(typeof eventData)[Type]> };
