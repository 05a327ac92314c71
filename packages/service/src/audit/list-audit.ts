/**
 * Reading the audit log (interface §GET /audit), newest first. A key sees actions of its own subject, an org key those
 * of the org and of its members, and what anybody did to a member while it was one; the operator all. The cursor holds an
 * event id.
 */
import { type DidWeb, isAuditEventId, type OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { auditScopeOf } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden } from '../errors.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { StoredAuditRecord } from '../ports/audit.ts';

export interface AuditQuery {
  readonly actor?: DidWeb | OrgId | undefined;
  readonly action?: string | undefined;
  readonly target?: string | undefined;
  /** Inclusive, in milliseconds. */
  readonly since?: number | undefined;
  /** Exclusive, in milliseconds. */
  readonly until?: number | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export const listAudit = async (
  deps: ServiceDeps,
  caller: Caller,
  { actor, action, target, since, until, limit, cursor }: AuditQuery,
): Promise<Page<StoredAuditRecord>> => {
  if (actor !== undefined && caller.class !== 'admin')
    throw forbidden('actor: only the operator chooses one.');
  const filter = {
    scope: await auditScopeOf(deps, caller),
    actor,
    action,
    target,
    sinceMs: since,
    untilMs: until,
    beforeId: parseCursor(cursor, isAuditEventId),
  };
  const list = (rows: number) => deps.store.audit.list({ ...filter, limit: rows });
  return readPage(limit, list, ({ eventId }) => encodeCursor(eventId));
};
