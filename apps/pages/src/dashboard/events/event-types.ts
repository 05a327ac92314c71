/** The event types that can be subscribed to, in words, and which subscribers receive each (protocol §15). */
import type { EventType, Me } from '../../shared/wire.ts';

interface Described {
  readonly says: string;
  readonly to: readonly ('rp' | 'principal' | 'org')[];
}

const ALL = ['rp', 'principal', 'org'] as const;
const PRINCIPALS = ['principal', 'org'] as const;
const PARTIES = ['rp', 'org'] as const;

const TYPES: Readonly<Record<EventType, Described>> = {
  'decision.allow': { says: 'a request was allowed', to: ALL },
  'decision.deny': { says: 'a request was denied', to: ALL },
  'budget.low': { says: 'little is left of a budget', to: PRINCIPALS },
  'outcome.reported': { says: 'a relying party said what became of it', to: ALL },
  'approval.requested': { says: 'a relying party asks for approval', to: PRINCIPALS },
  'approval.decided': { says: 'a request for approval was decided', to: PARTIES },
  'grant.revoked': { says: 'a Grant was taken back', to: ALL },
  'agent.disabled': { says: 'all Grants of an Agent were taken back', to: PRINCIPALS },
  'pause.changed': { says: 'something was paused or goes on', to: ALL },
  'key.retired': { says: 'a signing key signs no more', to: PRINCIPALS },
  'key.compromised': { says: 'a signing key was marked compromised', to: PRINCIPALS },
  'principal.verified': { says: 'the domain was found proven', to: PRINCIPALS },
  'principal.unverified': { says: 'the domain is not proven any more', to: PRINCIPALS },
  'checkpoint.published': { says: 'a day of the log was closed', to: ALL },
};

export const typesFor = (role: Me['role']): readonly (readonly [EventType, string])[] => {
  const reader = role === 'rp' || role === 'principal' ? role : 'org';
  return (Object.entries(TYPES) as [EventType, Described][])
    .filter(([, { to }]) => to.includes(reader))
    .map(([type, { says }]) => [type, says]);
};
