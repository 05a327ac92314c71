/** The types of events that subscribers receive (protocol §15). */
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

/** The type of an event, as named in subscriptions and in deliveries. */
export type EventType = (typeof EVENT_TYPES)[number];
