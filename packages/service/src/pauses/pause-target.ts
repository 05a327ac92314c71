/**
 * The owner of each pause: only the owner sets or lifts it (protocol §9). A pause of the whole service belongs to the
 * operator, who sets it by a command.
 */
import { type DidWeb, isGrantId, parseDidKey } from '@svc/protocol';
import { actingPrincipal } from '../access/acting.ts';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest, notFound } from '../errors.ts';
import type { PauseScope, PauseTarget } from '../ports/pauses.ts';

type Deps = Pick<ServiceDeps, 'store'>;

export interface PauseAsked {
  readonly scope: Exclude<PauseScope, 'service'>;
  readonly subject: string;
  /** The Principal of the Grant or Agent, named with an org:admin key. */
  readonly principal: DidWeb | undefined;
}

/** The target of a pause of the whole service. */
export const SERVICE_TARGET: PauseTarget = { scope: 'service', owner: 'service', subject: 'service' };

/**
 * The target that the caller names. Throws `FORBIDDEN` when it may not pause it, and `NOT_FOUND` when the target is not
 * its own.
 */
export const pauseTargetOf = async (deps: Deps, caller: Caller, asked: PauseAsked): Promise<PauseTarget> => {
  const { scope, subject, principal } = asked;
  if (principal !== undefined && (scope === 'relying_party' || scope === 'org'))
    throw invalidRequest(`principal: names whose Grant or Agent it is; leave it out with scope ${scope}`);
  switch (scope) {
    case 'grant':
      return ownGrant(deps, await actingPrincipal(deps, caller, principal), subject);
    case 'agent':
      return ownAgent(deps, await actingPrincipal(deps, caller, principal), subject);
    case 'principal':
      if (principal !== undefined && principal !== subject)
        throw invalidRequest('principal: names another Principal than subject; leave it out');
      return whole(scope, await actingPrincipal(deps, caller, subject as DidWeb));
    case 'relying_party':
      return whole(scope, await ownRelyingParty(deps, caller, subject));
    case 'org':
      return whole(scope, ownOrg(caller, subject));
  }
};

const whole = (scope: PauseScope, subject: string): PauseTarget => ({ scope, owner: subject, subject });

const ownGrant = async ({ store }: Deps, owner: DidWeb, subject: string): Promise<PauseTarget> => {
  const grant = isGrantId(subject) ? await store.grants.find(subject) : null;
  if (grant?.principal !== owner) throw notFound(`No Grant ${subject} of this Principal.`);
  return { scope: 'grant', owner, subject };
};

/** The target for an Agent that the Principal has registered or named in a Grant. */
const ownAgent = async ({ store }: Deps, owner: DidWeb, subject: string): Promise<PauseTarget> => {
  const agent = parseDidKey(subject);
  const isKnown =
    agent !== null &&
    ((await store.agents.find(owner, agent.did)) !== null ||
      (await store.grants.countNamingAgent(owner, agent.did, { atMost: 1 })) > 0);
  if (!isKnown) throw notFound(`No Agent ${subject} of this Principal.`);
  return { scope: 'agent', owner, subject };
};

const ownRelyingParty = async ({ store }: Deps, caller: Caller, subject: string): Promise<string> => {
  if (caller.class === 'rp') {
    if (subject === caller.subject) return subject;
    throw forbidden('subject: an RP key pauses only itself.');
  }
  if (caller.class !== 'org') throw forbidden('An RP key or an org:admin key is needed.');
  const relyingParty = await store.relyingParties.find(subject);
  if (relyingParty?.orgId !== caller.subject) throw notFound(`No relying party ${subject} in this org.`);
  return subject;
};

const ownOrg = (caller: Caller, subject: string): string => {
  if (caller.class !== 'org') throw forbidden('An org:admin key is needed.');
  if (subject !== caller.subject) throw notFound(`No org ${subject} for this key.`);
  return subject;
};
