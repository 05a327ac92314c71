/**
 * The end of what a restore withholds (protocol §10): the operator vouches for the Grants, in the audit log. They are
 * released in steps, each with its own audit event in its own transaction: whatever a release that is cut off has done
 * is told, and the same one goes on with the rest.
 */
import { auditEvent, SYSTEM } from '../audit/audit-event.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Repositories } from '../ports/store.ts';
import type { ReleasedGrant, ReleasedGrants } from '../ports/withheld-grants.ts';

/** For the audit log. */
const REQUEST_ID = 'svc-admin-restore';

export interface ReleaseOptions {
  /** How many Grants a step looks at. */
  readonly step?: number;
  /** Told after each step how many were released until then. */
  readonly onProgress?: (released: number) => void;
}

export interface Release {
  /** How many were withheld, and are not any more. */
  readonly released: number;
  /** Ids that the caller named and that were not withheld. */
  readonly missed: readonly string[];
}

/** Its Grants are locked meanwhile, and their revocations wait for 400 ms: some 30 ms on a disk that is quick. */
const STEP = 1_000;
/** For one step, on a disk that is slow. */
const DEADLINE_MS = 30_000;

/** Every node goes by it from its next decision on. Safe to repeat: what is released already is not counted again. */
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

/** One for each that was named, and of all others of a step one for each org whose members' they are. */
const eventsOf = (which: ReleasedGrants, released: readonly ReleasedGrant[]) => {
  if ('grantIds' in which)
    return released.map(({ id: target, orgId }) => ({ target, orgId, details: { grants: 1 } }));
  const target = 'principal' in which ? which.principal : null;
  return [...new Set(released.map(({ orgId }) => orgId))].map((orgId) => ({
    ...{ target, orgId, details: { grants: released.filter((one) => one.orgId === orgId).length } },
  }));
};
