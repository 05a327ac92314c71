/**
 * Checks of domains on demand, which last as long as slow hosts do: a bounded number at once, shared between tenants,
 * and one after another for each Principal.
 */
import type { Caller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { verifyPrincipal } from './verify-principal.ts';

/** Hosts that never answer keep a check for 3 s. */
const CHECKING = { atOnce: 24, atOncePerOrg: 2, maxWaiting: 1_024, waitMs: 10_000 };

export class DomainChecks {
  private readonly places = new FairLimiter({ ...CHECKING, refuse: serviceUnavailable });

  /** See `verifyPrincipal`. */
  verify(deps: ServiceDeps, caller: Caller, did: string, requestId: string): Promise<PrincipalRecord> {
    const tenant = tenantOf(caller);
    // The key is of caller and DID: checks that an org asks for of others' Principals delay nobody else.
    const exclusiveKey = `${tenant.org} ${did}`;
    return this.places.run({ tenant, exclusiveKey }, () => verifyPrincipal(deps, caller, did, requestId));
  }
}
