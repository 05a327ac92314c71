/**
 * Reading the audit log (interface §GET /audit), newest first. A key sees actions of its own subject, an org key those
 * of the org and of its members, the operator all. The cursor is the last event id of the page before.
 */
import type { DidWeb, OrgId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, invalidRequest } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../paging/cursor.ts';
import type { AuditActor, StoredAuditRecord } from '../ports/audit.ts';

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

export interface AuditPage {
  readonly events: readonly StoredAuditRecord[];
  readonly nextCursor: string | null;
}

export const listAudit = async (deps: ServiceDeps, caller: Caller, query: AuditQuery): Promise<AuditPage> => {
  const rows = await deps.store.audit.list({
    actors: await actorsVisibleTo(deps, caller, query.actor),
    ...(query.action === undefined ? {} : { action: query.action }),
    ...(query.target === undefined ? {} : { target: query.target }),
    ...(query.since === undefined ? {} : { sinceMs: query.since }),
    ...(query.until === undefined ? {} : { untilMs: query.until }),
    ...(query.cursor === undefined ? {} : { beforeId: parseCursor(query.cursor) }),
    limit: query.limit + 1,
  });
  const events = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? events.at(-1) : undefined;
  return { events, nextCursor: last === undefined ? null : encodeCursor(last.eventId) };
};

/** Kinds belong to the name: one DID can be a Principal and a relying party, with different owners. */
const actorsVisibleTo = async (
  { store }: Pick<ServiceDeps, 'store'>,
  caller: Caller,
  asked: AuditQuery['actor'],
): Promise<readonly AuditActor[] | null> => {
  if (caller.class === 'admin')
    return asked === undefined ? null : ACTING_KINDS.map((kind) => ({ kind, did: asked }));
  if (asked !== undefined) throw forbidden('actor: only the operator chooses one.');
  if (caller.class === 'principal' || caller.class === 'rp')
    return [{ kind: caller.class, did: caller.subject }];
  if (caller.class !== 'org') throw forbidden('This key may not read the audit log.');
  const principals = await store.principals.listDidsOfOrg(caller.subject);
  const relyingParties = await store.relyingParties.listOfOrg(caller.subject);
  return [
    { kind: 'org', did: caller.subject },
    ...principals.map((did) => ({ kind: 'principal', did }) as const),
    ...relyingParties.map(({ did }) => ({ kind: 'rp', did }) as const),
  ];
};

const ACTING_KINDS = ['principal', 'rp', 'org'] as const;

const EVENT_ID = /^aud_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

const parseCursor = (cursor: string): string => {
  const id = decodeCursor(cursor);
  if (id !== null && EVENT_ID.test(id)) return id;
  throw invalidRequest('cursor: must be the next_cursor of a previous page of this list');
};
