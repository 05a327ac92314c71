/**
 * Records the expiry of requests for approval, so that its event is sent even if no call reads the request. Deletes the
 * texts of Grants once they have expired, and requests after 30 days.
 */
import type { ServiceDeps } from '../deps.ts';

const STEP = 500;
const KEPT_DAYS = 30;

export const tidyApprovals = async (
  { store: { approvals } }: Pick<ServiceDeps, 'store'>,
  stop: AbortSignal,
): Promise<{ readonly expired: number; readonly removed: number }> => {
  let [expired, removed] = [0, 0];
  for (let isMore = true; isMore && !stop.aborted; ) {
    const due = await approvals.expire(STEP);
    const { texts, requests } = await approvals.forget(STEP, KEPT_DAYS);
    expired += due;
    removed += requests;
    isMore = [due, texts, requests].includes(STEP);
  }
  return { expired, removed };
};
