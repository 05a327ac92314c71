/**
 * Checks, before a transaction commits, that storage has stamped a row with the time that this process considers right.
 */
import { TRUST_CONFIG } from '@svc/protocol';
import type { ServiceDeps } from '../deps.ts';
import { serviceUnavailable } from '../errors.ts';

/** Clock skew of protocol §7. */
const SKEW_MS = TRUST_CONFIG.clockSkewSeconds * 1_000;

/**
 * Throws `SERVICE_UNAVAILABLE` when the stamp is off by more than the skew, and while decisions are held. A hold for a
 * restore that settles is the exception: it does not put the time in doubt.
 */
export const assertDated = ({ clock, holds }: Pick<ServiceDeps, 'clock' | 'holds'>, atMs: number): void => {
  holds.assertNoneButSettling();
  const aheadMs = atMs - clock.nowMs();
  if (Math.abs(aheadMs) > SKEW_MS)
    throw serviceUnavailable(`storage stamped a row ${aheadMs} ms ahead of this node's time`);
};
