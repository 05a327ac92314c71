/**
 * Refuses nearly all routes while it is unknown whether the database is the one that made the latest commits (protocol
 * §10). Answers from a wrong database could do harm:
 *
 * - a status list could show a revoked Grant as valid;
 * - a name or an index could be given out twice;
 * - a revocation could be answered as done and be lost with the database.
 */
import type { RouteId } from '@svc/contract';
import type { Holds } from '@svc/service';
import { type Handlers, wrapHandlers } from '../http/index.ts';

/** Their answers rest on configuration, or on facts that no later state makes untrue. */
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
