/**
 * Reads the audit log (interface §GET /audit), newest first. A key sees the actions of its own subject. An org key sees
 * the actions of the org and of its members, and everything that anybody did to a member while it was one. The operator
 * sees all. The cursor holds an event id.
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
  const scope = await auditScopeOf(deps, caller);
  const filter = {
    scope,
    actor,
    action,
    target,
    sinceMs: since,
    untilMs: until,
    beforeId: parseCursor(cursor, isAuditEventId),
  };
  const list = (rows: number) => deps.store.audit.list({ ...filter, limit: rows });
  const page = await readPage(limit, list, ({ eventId }) => encodeCursor(eventId));
  if (scope === null) return page;
  return { ...page, items: page.items.map((event) => withoutOtherOrg(event, scope.orgId)) };
};

/** Hides the other org of a transfer: versions up to 0.3.0 named both orgs in the event that each of them sees. */
const withoutOtherOrg = (event: StoredAuditRecord, orgId: OrgId | null): StoredAuditRecord => {
  if (event.details.claim !== 'transferred') return event;
  const isShown = ([name, value]: [string, unknown]) =>
    !['from_org', 'to_org'].includes(name) || value === orgId;
  return { ...event, details: Object.fromEntries(Object.entries(event.details).filter(isShown)) };
};
