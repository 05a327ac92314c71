/** Lists Grants (interface §GET /grants), newest first. The cursor holds a Grant id. */
import { type DidKey, type DidWeb, isGrantId } from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { principalsVisibleTo } from '../access/reading.ts';
import type { ServiceDeps } from '../deps.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { GrantRecord } from '../ports/grants.ts';

export interface GrantListQuery {
  readonly principal?: DidWeb | undefined;
  readonly agent?: DidKey | undefined;
  readonly state?: 'active' | 'revoked' | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export const listGrants = async (
  deps: ServiceDeps,
  caller: Caller,
  { principal, agent, state, limit, cursor }: GrantListQuery,
): Promise<Page<GrantRecord>> => {
  const principals = await principalsVisibleTo(deps, caller, principal);
  const filter = { principals, agent, state, beforeId: parseCursor(cursor, isGrantId) };
  const list = (rows: number) => deps.store.grants.list({ ...filter, limit: rows });
  return readPage(limit, list, ({ id }) => encodeCursor(id));
};
