/**
 * Reads requests for approval: for the relying party that asked, and for the Principal that is asked. A request of
 * another subject is answered like an absent one.
 */
import { type DidWeb, isAccessRequestId } from '@svc/protocol';
import type { Caller, RpCaller } from '../access/caller.ts';
import { holdingOf } from '../access/decision-scope.ts';
import { evaluatedAtMsOf } from '../decisions/evaluated-at.ts';
import type { ServiceDeps } from '../deps.ts';
import { forbidden, notFound } from '../errors.ts';
import { encodeCursor, type Page, parseCursor, readPage } from '../paging/page.ts';
import type { ApprovalRecord, ApprovalState } from '../ports/approvals.ts';

type Deps = Pick<ServiceDeps, 'store'>;

/** A request, for the relying party that made it. */
export const findAskedApproval = async (
  { store }: Deps,
  caller: RpCaller,
  id: string,
): Promise<ApprovalRecord> => {
  const found = await store.approvals.find(id);
  if (found?.relyingParty !== caller.subject) throw notFound(`No access request ${id}.`);
  return found;
};

/**
 * A request, for the Principal that is asked and its org. As with decisions, a request from before the present holder
 * got the DID is not found. `FORBIDDEN` while the domain of a hosted Principal is not proven.
 */
export const findOwnApproval = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  id: string,
): Promise<ApprovalRecord> => findHeld(deps, did, id, await readableSince(deps, caller, did));

/**
 * The same for a caller that rejects the request, whether the domain is proven or not: rejecting takes authority away.
 * The holder's domain was proven when the denial was decided (T2), and the holder was told the id, which cannot be
 * guessed.
 */
export const findApprovalToReject = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  id: string,
): Promise<ApprovalRecord> => findHeld(deps, did, id, (await holdingOf(deps, caller, did)).heldSinceMs);

const readableSince = async (deps: Deps, caller: Caller, did: DidWeb): Promise<number> => {
  const { isProven, heldSinceMs } = await holdingOf(deps, caller, did);
  if (isProven) return heldSinceMs;
  throw forbidden(
    `The domain of ${did} is not proven now. Once it is, what it is asked is shown and can be approved. Rejecting goes on meanwhile.`,
  );
};

const findHeld = async (
  { store }: Deps,
  did: DidWeb,
  id: string,
  heldSinceMs: number,
): Promise<ApprovalRecord> => {
  const found = await store.approvals.find(id);
  if (found?.principal !== did || askedOfMs(found) < heldSinceMs)
    throw notFound(`No access request ${id} to this Principal.`);
  return found;
};

/**
 * The time by which a request's holder is judged: the earlier of the request and the denial. The request belongs to the
 * present holder only if that one held the DID at both times.
 */
const askedOfMs = ({ requestedAtMs, receiptId }: ApprovalRecord): number =>
  Math.min(requestedAtMs, receiptId === null ? requestedAtMs : evaluatedAtMsOf(receiptId));

export interface ApprovalListQuery {
  readonly status?: ApprovalState | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

/** Newest first. `FORBIDDEN` while the domain of a hosted Principal is not proven. */
export const listOwnApprovals = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  { status: state, limit, cursor }: ApprovalListQuery,
): Promise<Page<ApprovalRecord>> => {
  const heldSinceMs = await readableSince(deps, caller, did);
  const beforeId = parseCursor(cursor, isAccessRequestId);
  return readPage(
    limit,
    (rows) => deps.store.approvals.list({ principal: did, heldSinceMs, state, beforeId, limit: rows }),
    ({ requestId }) => encodeCursor(requestId),
  );
};
