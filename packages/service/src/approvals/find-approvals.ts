/** Reading requests for approval: by who asked, and by who is asked. What is another's answers as what is absent. */
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
 * A request, for the Principal that is asked and its org; as with decisions, not found if it is of the time before the
 * DID had its present holder. `FORBIDDEN` while the domain of a hosted one is not proven.
 */
export const findOwnApproval = async (
  deps: Deps,
  caller: Caller,
  did: DidWeb,
  id: string,
): Promise<ApprovalRecord> => findHeld(deps, did, id, await readableSince(deps, caller, did));

/**
 * The same for who rejects it, proven or not: that takes authority away. It is the holder whose domain was proven when the
 * denial was decided (T2), and who was told the id, which cannot be guessed.
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
 * The request belongs to the holder that the DID had both when it was made and when the denial was decided: the
 * earlier time.
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
