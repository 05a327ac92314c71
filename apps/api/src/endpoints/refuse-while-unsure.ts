/**
 * What is answered while it is not known whether the database is the one that made the last promises (protocol §10): next
 * to nothing. A list served from it could show as valid what is revoked, a name or an index could be given twice, a
 * revocation could be taken for done and be gone with it.
 */
import type { RouteId } from '@svc/contract';
import type { Holds } from '@svc/service';
import { type Handlers, wrapHandlers } from '../http/index.ts';

/** They rest on configuration, or on what no later state makes untrue. */
const ANSWERED: ReadonlySet<RouteId> = new Set([
  'getHealth',
  'getServiceDidDocument',
  'getServiceJwks',
  'getEvidence',
  'getAuthZenConfiguration',
  'getSsfConfiguration',
  'getSsfJwks',
]);

export const refuseWhileUnsure = (handlers: Handlers, holds: Pick<Holds, 'assertSure'>): Handlers =>
  wrapHandlers(handlers, (id) => (ANSWERED.has(id) ? null : () => holds.assertSure()));
