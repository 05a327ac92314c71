/** What subscribers are told of (protocol §15). */
export const EVENT_TYPES = [
  'decision.allow',
  'decision.deny',
  'grant.revoked',
  'agent.disabled',
  'key.retired',
  'key.compromised',
  'principal.verified',
  'principal.unverified',
  'checkpoint.published',
  'outcome.reported',
  'budget.low',
  'pause.changed',
  'approval.requested',
  'approval.decided',
] as const;

/** The type of an event, as subscriptions name it and as it is delivered. */
export type EventType = (typeof EVENT_TYPES)[number];
