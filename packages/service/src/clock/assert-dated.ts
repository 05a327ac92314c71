/** Checks, before a transaction commits, that storage has stamped a row with the time this process considers right. */
import { TRUST_CONFIG } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';

/** Protocol §7. */
const SKEW_MS = TRUST_CONFIG.clockSkewSeconds * 1_000;

/**
 * Throws `SERVICE_UNAVAILABLE` if the stamp is off by more than the skew, or while something holds decisions, but for a
 * restore that settles: then the time is not in doubt.
 */
export const assertDated = ({ clock, holds }: Pick<ServiceDeps, 'clock' | 'holds'>, atMs: number): void => {
  holds.assertNoneButSettling();
  const aheadMs = atMs - clock.nowMs();
  if (Math.abs(aheadMs) > SKEW_MS)
    throw serviceUnavailable(`storage stamped a row ${aheadMs} ms ahead of this node's time`);
};
