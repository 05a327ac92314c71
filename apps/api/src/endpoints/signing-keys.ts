/** A Principal's signing keys (interface §Key states). */
import { actingPrincipal, compromiseKey, retireKey, type ServiceDeps } from '@svc/service';
import type { HandlersOf } from '../http/index.ts';

export const signingKeyEndpoints = (deps: ServiceDeps): HandlersOf<'signing-keys'> => ({
  retireKey: async ({ caller, params: { kid }, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    const state = await retireKey(deps, { caller, principal, kid, requestId });
    return { status: 200, body: { kid, state } };
  },

  /** Answers 200 only once the change is visible everywhere. */
  compromiseKey: async ({ caller, params: { kid }, query, requestId }) => {
    const principal = await actingPrincipal(deps, caller, query.principal);
    await compromiseKey(deps, { caller, principal, kid, requestId });
    return { status: 200, body: { kid, state: 'compromised' } };
  },
});
