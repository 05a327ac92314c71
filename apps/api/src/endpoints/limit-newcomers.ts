/**
 * Counts the changes of an org that signed itself up and has no plan against the org's lifetime limit (protocol §13,
 * decision 36). Every route that changes something counts, including new routes, except those that take authority away
 * and those listed here.
 */
import { type Route, type RouteId, routes } from '@svc/contract';
import { type Caller, requireRoomForChange, type ServiceDeps, tenantOf } from '@svc/service';
import { type Handlers, wrapHandlers } from '../http/index.ts';

const NOT_COUNTED: ReadonlySet<RouteId> = new Set([
  // These send fewer events, or store something that has another limit.
  'disableEventSubscription',
  'deleteEventSubscription',
  'testEventSubscription',
  'replayEvents',
  'deleteStream',
  'verifyStream',
  'pollStream',
]);

/** True: calls of the route count. Decisions have their own limits. */
export const isCounted = (id: RouteId): boolean => {
  const { method, limiter, withdraws }: Route = routes[id];
  return method !== 'get' && limiter === 'authenticated' && withdraws !== true && !NOT_COUNTED.has(id);
};

export const limitNewcomers = (
  handlers: Handlers,
  service: Pick<ServiceDeps, 'store' | 'entitlements' | 'maxChangesWithoutPlan'>,
): Handlers => {
  const limit = async ({ caller }: { readonly caller: Caller | null }) => {
    if (caller === null) return;
    const tenant = tenantOf(caller);
    await requireRoomForChange({ ...service, store: service.store.as(tenant) }, tenant);
  };
  return wrapHandlers(handlers, (id) => (isCounted(id) ? limit : null));
};
