/**
 * Checks domains on demand. A check lasts as long as a slow host does, so a bounded number runs at once, shared between
 * tenants. The checks that one org asks for of one DID run one after another.
 */
import type { Caller } from '../access/caller.ts';
import { tenantOf } from '../access/tenant.ts';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';
import { FairLimiter } from '../lib/fair-limiter.ts';
import type { DomainProver } from '../ports/hosted-principals.ts';
import type { PrincipalRecord } from '../ports/principals.ts';
import { verifyPrincipal } from './verify-principal.ts';

/** A host that never answers takes a place for 3 s. */
const CHECKING = { atOnce: 24, atOncePerOrg: 2, maxWaiting: 1_024, waitMs: 10_000 };

export class DomainChecks {
  private readonly places = new FairLimiter({ ...CHECKING, refuse: serviceUnavailable });

  /** See `verifyPrincipal`. */
  verify(deps: ServiceDeps, caller: Caller, did: string, requestId: string): Promise<PrincipalRecord> {
    return this.#run(caller, did, () => verifyPrincipal(deps, caller, did, requestId));
  }

  /** `deps` whose prover asks a domain in the caller's turn. Not for `verify`, which has its turn already. */
  inTurn(deps: ServiceDeps, caller: Caller): ServiceDeps {
    const check: DomainProver['check'] = (claim, tenant) =>
      this.#run(caller, claim.did, () => deps.domainProver.check(claim, tenant));
    return { ...deps, domainProver: { check } };
  }

  #run<T>(caller: Caller, did: string, check: () => Promise<T>): Promise<T> {
    const tenant = tenantOf(caller);
    // The key holds org and DID, so requests of an org for DIDs of other tenants delay only that org.
    const exclusiveKey = `${tenant.org} ${did}`;
    return this.places.run({ tenant, exclusiveKey }, check);
  }
}
