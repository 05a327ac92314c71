/**
 * Releases Grants that a restore withholds (protocol §10). The operator vouches for them, and the audit log records it.
 * They are released in steps, each in its own transaction with its audit events. So the steps of an interrupted release
 * are recorded, and repeating the release continues with the rest.
 */
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Repositories } from '../ports/store.ts';
import type { ReleasedGrant, ReleasedGrants } from '../ports/withheld-grants.ts';

/** Request id in the audit log. */
const REQUEST_ID = 'svc-admin-restore';

export interface ReleaseOptions {
  /** Number of Grants that a step reads. */
  readonly step?: number;
  /** Called after each step with the number released so far. */
  readonly onProgress?: (released: number) => void;
}

export interface Release {
  /** Number of Grants that were released. */
  readonly released: number;
  /** Ids that the operator named and that were not withheld. */
  readonly missed: readonly string[];
}

/** Number of Grants of a step. They are locked for about 30 ms on a fast disk; a revocation waits 400 ms at most. */
const STEP = 1_000;
/** Deadline of one step, on a slow disk. */
const DEADLINE_MS = 30_000;

/** Every node applies the release from its next decision on. Safe to repeat: a released Grant is not counted again. */
export const releaseGrants = async (
  deps: ServiceDeps,
  which: ReleasedGrants,
  { step = STEP, onProgress = () => {} }: ReleaseOptions = {},
): Promise<Release> => {
  const missed = new Set('grantIds' in which ? which.grantIds : []);
  let released = 0;
  for (let after: string | null = ''; after !== null; ) {
    const page = await deps.store.transaction((tx) => releasePage(deps, tx, which, after ?? '', step), {
      deadlineMs: DEADLINE_MS,
    });
    for (const { id } of page.released) missed.delete(id);
    released += page.released.length;
    onProgress(released);
    after = page.looked < step ? null : page.lastId;
  }
  return { released, missed: [...missed] };
};

const releasePage = async (
  deps: ServiceDeps,
  tx: Repositories,
  which: ReleasedGrants,
  afterId: string,
  step: number,
) => {
  const page = await tx.withheldGrants.release(which, afterId, step);
  for (const audited of eventsOf(which, page.released))
    await tx.audit.insert(
      auditEvent(deps, SYSTEM, { action: 'restore.release', requestId: REQUEST_ID, ...audited }),
    );
  return page;
};

/** Audit events of a step: one for each Grant that was named; otherwise one for each org with Grants in the step. */
const eventsOf = (which: ReleasedGrants, released: readonly ReleasedGrant[]) => {
  if ('grantIds' in which)
    return released.map(({ id: target, orgId }) => ({ target, orgId, details: { grants: 1 } }));
  const target = 'principal' in which ? which.principal : null;
  return [...new Set(released.map(({ orgId }) => orgId))].map((orgId) => ({
    ...{ target, orgId, details: { grants: released.filter((one) => one.orgId === orgId).length } },
  }));
};
