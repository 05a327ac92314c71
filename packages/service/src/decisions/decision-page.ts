/**
 * Which decisions one page holds (interface §GET /decisions, §GET /decisions/export). The cursor is the last receipt id
 * of the page before and nothing else: whose decisions may be seen is decided anew on every page.
 */
import {
  type ApiKeyId,
  type DidWeb,
  type GrantId,
  isReceiptId,
  type ReasonCode,
  type ReceiptId,
} from '@svc/protocol';
import type { Caller } from '../access/caller.ts';
import { relyingPartyScope } from '../access/usage-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../paging/cursor.ts';
import type { DecisionListFilter } from '../ports/decisions.ts';

type Deps = Pick<ServiceDeps, 'store'>;

export interface DecisionQuery {
  /** Inclusive, in milliseconds. */
  readonly since?: number | undefined;
  /** Exclusive, in milliseconds. */
  readonly until?: number | undefined;
  readonly decision?: 'ALLOW' | 'DENY' | undefined;
  readonly reason?: ReasonCode | undefined;
  readonly principal?: DidWeb | undefined;
  readonly grant_id?: GrantId | undefined;
  readonly rp?: DidWeb | undefined;
  readonly key_id?: ApiKeyId | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

export interface Page<Item> {
  /** By descending id. */
  readonly items: readonly Item[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

/** One page of what `list` finds. It is asked for one more, which tells whether there is a next page. */
export const findPage = async <Item>(
  deps: Deps,
  caller: Caller,
  query: DecisionQuery,
  list: (filter: DecisionListFilter, limit: number) => Promise<readonly Item[]>,
  idOf: (item: Item) => ReceiptId,
): Promise<Page<Item>> => {
  const found = await list(await filterOf(deps, caller, query), query.limit + 1);
  const items = found.slice(0, query.limit);
  const last = found.length > query.limit ? items.at(-1) : undefined;
  return { items, nextCursor: last === undefined ? null : encodeCursor(idOf(last)) };
};

const filterOf = async (deps: Deps, caller: Caller, query: DecisionQuery): Promise<DecisionListFilter> => {
  const { since, until, decision, reason, principal, cursor } = query;
  const { relyingParties } = await relyingPartyScope(deps, caller, { rp: query.rp });
  return {
    relyingParties,
    ...(since === undefined ? {} : { sinceMs: since }),
    ...(until === undefined ? {} : { untilMs: until }),
    ...(decision === undefined ? {} : { decision }),
    ...(reason === undefined ? {} : { reason }),
    ...(principal === undefined ? {} : { principal }),
    ...(query.grant_id === undefined ? {} : { grantId: query.grant_id }),
    ...(query.key_id === undefined ? {} : { keyId: query.key_id }),
    ...(cursor === undefined ? {} : { beforeId: parseCursor(cursor) }),
  };
};

const parseCursor = (cursor: string): ReceiptId => {
  const id = decodeCursor(cursor);
  if (isReceiptId(id)) return id;
  throw invalidRequest('cursor: must be the next_cursor of a previous page of this list');
};
