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
import type { Caller } from '../callers/caller.ts';
import type { ServiceDeps } from '../deps.ts';
import { invalidRequest } from '../errors.ts';
import { decodeCursor, encodeCursor } from '../paging/cursor.ts';
import type { DecisionListFilter } from '../ports/decisions.ts';
import { relyingPartyScope } from '../usage/scope.ts';

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

export interface IdPage {
  /** Descending. */
  readonly ids: readonly ReceiptId[];
  /** Null on the last page. */
  readonly nextCursor: string | null;
}

export const findIdPage = async (deps: Deps, caller: Caller, query: DecisionQuery): Promise<IdPage> => {
  const filter = await filterOf(deps, caller, query);
  const found = await deps.store.decisions.listIds(filter, query.limit + 1);
  const ids = found.slice(0, query.limit);
  const last = found.length > query.limit ? ids.at(-1) : undefined;
  return { ids, nextCursor: last === undefined ? null : encodeCursor(last) };
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
