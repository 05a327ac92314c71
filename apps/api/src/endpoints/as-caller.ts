/**
 * The work of each call waits in the queue on its caller's account. Therefore the endpoints are bound anew for every
 * call, to the store as the caller's tenant uses it. State that endpoints keep between calls is passed to them.
 * Decisions are gathered from all callers and have their own fair sharing.
 */
import { type Caller, type ServiceDeps, type Tenant, tenantAt, tenantOf } from '@svc/service';
import { type Handlers, limiterKeyOf } from '../http/index.ts';

interface Call {
  readonly caller: Caller | null;
  readonly clientIp: string;
}

export const asCaller = <H extends Partial<Handlers>>(
  service: ServiceDeps,
  build: (deps: ServiceDeps) => H,
): H => {
  const bind = (id: string) => (call: Call) => {
    const own = { ...service, store: service.store.as(tenantOfCall(call)) };
    return endpointsOf(build(own))[id]?.(call);
  };
  return Object.fromEntries(Object.keys(build(service)).map((id) => [id, bind(id)])) as unknown as H;
};

/** The pipeline gives each endpoint the input of its own route; this module only passes it on. */
const endpointsOf = (endpoints: unknown) => endpoints as Readonly<Record<string, (call: Call) => unknown>>;

/** The tenant on whose account the work of a call waits in the queue. */
export const tenantOfCall = ({ caller, clientIp }: Call): Tenant =>
  caller === null ? tenantAt(limiterKeyOf(clientIp)) : tenantOf(caller);
