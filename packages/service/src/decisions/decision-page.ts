/**
 * Finds the decisions of one page (interface §GET /decisions, §GET /decisions/export). The cursor holds a receipt id.
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
import { type HeldScope, principalScope, relyingPartyScope } from '../access/decision-scope.ts';
import type { ServiceDeps } from '../deps.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { DecisionListFilter, DecisionPage } from '../ports/decisions.ts';

type Deps = Pick<ServiceDeps, 'store'>;

export interface DecisionQuery {
  /** Inclusive, in milliseconds. */
  readonly since?: number | undefined;
  /** Exclusive, in milliseconds. */
  readonly until?: number | undefined;
  readonly decision?: 'ALLOW' | 'DENY' | undefined;
  readonly reason?: ReasonCode | undefined;
  readonly principal?: DidWeb | undefined;
  /** The Principal whose own decisions are listed, in place of a relying party's. */
  readonly ownerDid?: DidWeb | undefined;
  readonly grant_id?: GrantId | undefined;
  readonly rp?: DidWeb | undefined;
  readonly key_id?: ApiKeyId | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/**
 * One page of what `list` finds, by descending receipt id. When `list` runs out of time, the page has fewer rows than
 * exist, perhaps none, and its cursor goes on from there.
 */
export const findPage = async <Item>(
  deps: Deps,
  caller: Caller,
  query: DecisionQuery,
  list: (filter: DecisionListFilter, limit: number) => Promise<DecisionPage<Item>>,
  idOf: (item: Item) => ReceiptId,
): Promise<Page<Item>> => {
  const filter = await filterOf(deps, caller, query);
  let unreadBefore: ReceiptId | null = null;
  const page = await readPage(
    query.limit,
    async (rows) => {
      const found = await list(filter, rows);
      unreadBefore = found.unreadBefore;
      return found.items;
    },
    (last) => encodeCursor(idOf(last)),
  );
  return page.nextCursor === null && unreadBefore !== null
    ? { ...page, nextCursor: encodeCursor(unreadBefore) }
    : page;
};

const filterOf = async (deps: Deps, caller: Caller, query: DecisionQuery): Promise<DecisionListFilter> => {
  const { since, until, decision, reason, cursor } = query;
  const { heldSinceMs, ...scope } = await scopeOf(deps, caller, query);
  return {
    ...scope,
    sinceMs: heldSinceMs === undefined ? since : Math.max(since ?? 0, heldSinceMs),
    untilMs: until,
    decision,
    reason,
    grantId: query.grant_id,
    keyId: query.key_id,
    beforeId: parseCursor(cursor, isReceiptId),
  };
};

const scopeOf = (
  deps: Deps,
  caller: Caller,
  { ownerDid, rp, principal }: DecisionQuery,
): Promise<HeldScope> =>
  ownerDid === undefined
    ? relyingPartyScope(deps, caller, { rp, principal })
    : principalScope(deps, caller, ownerDid, rp);
