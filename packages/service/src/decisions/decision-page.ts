/**
 * Which decisions one page holds (interface §GET /decisions, §GET /decisions/export). The cursor holds a receipt id.
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
  /** Whose own decisions they are, in place of a relying party's. */
  readonly of?: DidWeb | undefined;
  readonly grant_id?: GrantId | undefined;
  readonly rp?: DidWeb | undefined;
  readonly key_id?: ApiKeyId | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** One page of what `list` finds, by descending receipt id. */
export const findPage = async <Item>(
  deps: Deps,
  caller: Caller,
  query: DecisionQuery,
  list: (filter: DecisionListFilter, limit: number) => Promise<readonly Item[]>,
  idOf: (item: Item) => ReceiptId,
): Promise<Page<Item>> => {
  const filter = await filterOf(deps, caller, query);
  return readPage(
    query.limit,
    (rows) => list(filter, rows),
    (last) => encodeCursor(idOf(last)),
  );
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

const scopeOf = (deps: Deps, caller: Caller, { of, rp, principal }: DecisionQuery): Promise<HeldScope> =>
  of === undefined
    ? relyingPartyScope(deps, caller, { rp, principal })
    : principalScope(deps, caller, of, rp);
