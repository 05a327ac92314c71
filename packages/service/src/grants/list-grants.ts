/** Listing Grants (interface §GET /grants), newest first. The cursor is the last Grant id of the page before. */
import { type DidKey, type DidWeb, type GrantId, isGrantId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { principalsVisibleTo } from '../access/visibility.ts';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../paging/cursor.ts';
import type { GrantRecord } from '../ports/grants.ts';

export interface GrantListQuery {
  readonly principal?: DidWeb | undefined;
  readonly agent?: DidKey | undefined;
  readonly state?: 'active' | 'revoked' | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface GrantPage {
  readonly grants: readonly GrantRecord[];
  readonly nextCursor: string | null;
}

export const listGrants = async (
  deps: ServiceDeps,
  caller: Caller,
  query: GrantListQuery,
): Promise<GrantPage> => {
  const principals = await principalsVisibleTo(deps, caller, query.principal);
  const rows = await deps.store.grants.list({
    principals,
    ...(query.agent === undefined ? {} : { agent: query.agent }),
    ...(query.state === undefined ? {} : { state: query.state }),
    ...(query.cursor === undefined ? {} : { beforeId: parseCursor(query.cursor) }),
    limit: query.limit + 1,
  });
  const grants = rows.slice(0, query.limit);
  const last = rows.length > query.limit ? grants.at(-1) : undefined;
  return { grants, nextCursor: last === undefined ? null : encodeCursor(last.id) };
};

const parseCursor = (cursor: string): GrantId => {
  const id = decodeCursor(cursor);
  if (isGrantId(id)) return id;
  throw invalidRequest('cursor: must be the next_cursor of a previous page of this list');
};
