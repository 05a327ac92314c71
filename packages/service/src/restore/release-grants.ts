/** The end of what a restore withholds (protocol §10): the operator vouches for the Grants, in the audit log. */
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';

/** For the audit log. */
const REQUEST_ID = 'svc-admin-restore';

/** Which Grants: these, those of a Principal, or all. */
export type Released =
  | { readonly grantIds: readonly string[] }
  | { readonly principal: string }
  | { readonly all: true };

/** Answers the ids of those that were withheld, and are not any more. Every node goes by it from its next decision on. */
export const releaseGrants = (deps: ServiceDeps, released: Released): Promise<readonly string[]> =>
  deps.store.transaction(async (tx) => {
    const grantIds = 'grantIds' in released ? released.grantIds : null;
    const principal = 'principal' in released ? released.principal : null;
    const ids = await tx.restores.releaseGrants({ grantIds, principal });
    const targets = grantIds === null ? [principal] : ids;
    for (const target of ids.length === 0 ? [] : targets) {
      const details = { grants: grantIds === null ? ids.length : 1 };
      const event = { action: 'restore.release', target, requestId: REQUEST_ID, details } as const;
      await tx.audit.insert(auditEvent(deps, SYSTEM, event));
    }
    return ids;
  });
