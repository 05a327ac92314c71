/**
 * What is answered while it is not known whether the database is the one that made the last promises (protocol §10): next
 * to nothing. A list served from it could show as valid what is revoked, a name or an index could be given twice, a
 * revocation could be taken for done and be gone with it.
 */
import type { RouteId } from '@svc/contract';
import type { Holds } from '@svc/service';
import type { Handlers } from '../http/index.ts';

/** They rest on configuration, or on what no later state makes untrue. */
const ANSWERED: ReadonlySet<RouteId> = new Set([
  'getHealth',
  'getServiceDidDocument',
  'getServiceJwks',
  'getEvidence',
  'getAuthZenConfiguration',
  'getSsfConfiguration',
]);

export const refuseWhileUnsure = (handlers: Handlers, holds: Pick<Holds, 'assertSure'>): Handlers => {
  const refusing = Object.entries(handlers).map(([id, handle]) => {
    if (ANSWERED.has(id as RouteId)) return [id, handle];
    const refuse = async (input: unknown) => {
      holds.assertSure();
      return (handle as (input: unknown) => unknown)(input);
    };
    return [id, refuse];
  });
  // Each stands where the one that it wraps stood.
  return Object.fromEntries(refusing) as Handlers;
};
