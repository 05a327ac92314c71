/**
 * Limits what is stored for orgs without a plan (decision 36). Grants, keys and audit events are kept for ever.
 * Therefore an org that signed itself up has a lifetime limit of changes until it has a plan. Changes that take
 * authority away are not counted.
 */
import type { OrgId } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, rateLimited } from '../errors.ts';
import type { Tenant } from '../ports/tenant.ts';
import { secondsUntilTomorrow } from './until-tomorrow.ts';

type Deps = Pick<ServiceDeps, 'store' | 'entitlements' | 'maxChangesWithoutPlan'>;

/** Counts a change by a newcomer. `FORBIDDEN` when it has reached its limit. */
export const requireRoomForChange = async (
  { store, entitlements, maxChangesWithoutPlan: atMost }: Deps,
  { crowd, org }: Pick<Tenant, 'crowd' | 'org'>,
): Promise<void> => {
  if (crowd !== 'newcomers' || entitlements.compOrgs.has(org as OrgId)) return;
  if (await store.selfServe.takeChange(org as OrgId, atMost)) return;
  throw forbidden(
    `${org} has made ${atMost} changes without a plan, and makes more once it has one; revoking goes on meanwhile.`,
  );
};

/**
 * Counts a call that stores something in the sandbox; all users of the sandbox share one limit. `RATE_LIMITED`: no more
 * today.
 */
export const requireRoomInSandbox = async (
  { store, clock }: Pick<ServiceDeps, 'store' | 'clock'>,
  perDay: number,
): Promise<void> => {
  if (await store.selfServe.takeSandboxCall(perDay)) return;
  throw rateLimited('The sandbox takes no more calls today (UTC).', secondsUntilTomorrow(clock.nowMs()));
};
