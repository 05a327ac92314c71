/** `/orgs/{org_id}/entitlement`: read and pushed by the console and the operator. */
import type { Routes } from '@svc/contract';
import { getEntitlement as get, putEntitlement as put, type ServiceDeps } from '@svc/service';
import type { Handler } from '../http/index.ts';
import { presentEntitlement } from '../present/entitlement.ts';

export const getEntitlement =
  (deps: ServiceDeps): Handler<Routes['getEntitlement']> =>
  async ({ params }) => ({ status: 200, body: presentEntitlement(await get(deps, params.org_id)) });

export const putEntitlement =
  (deps: ServiceDeps): Handler<Routes['putEntitlement']> =>
  async ({ params, body }) => {
    const { applied, ...entitlement } = await put(deps, params.org_id, {
      production: body.production,
      productionUntilMs: body.production_until,
      checkCap: body.check_cap,
      capSinceMs: body.cap_since,
      reason: body.reason,
      asOfMs: body.as_of,
    });
    return { status: 200, body: { ...presentEntitlement(entitlement), applied } };
  };
