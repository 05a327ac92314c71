/** The verification state of a Principal after a check and over time (protocol §13). */
import type { DomainProof } from '../ports/hosted-principals.ts';
import type { PrincipalRecord, VerificationState } from '../ports/principals.ts';

/**
 * How long a verification lasts when its domain cannot be asked, or is not asked. The same number is in `svc_check_due`
 * in storage.
 */
const UNKNOWN_FOR_HOURS = 72;

type Verified = Pick<PrincipalRecord, 'kind' | 'verificationState' | 'lastProvenMs'>;

/** The state after a check with this outcome. */
export const stateAfterCheck = (
  principal: Verified,
  outcome: DomainProof,
  nowMs: number,
): VerificationState => {
  if (outcome === 'proven') return 'verified';
  return outcome === 'absent' ? 'unverified' : effectiveState(principal, nowMs);
};

/** The state that decisions use: the stored one, which lapses when no check has found a proof for too long. */
export const effectiveState = (
  { kind, verificationState, lastProvenMs }: Verified,
  nowMs: number,
): VerificationState => {
  if (kind === 'managed' || verificationState === 'unverified') return verificationState;
  const isLapsed = lastProvenMs === null || nowMs - lastProvenMs > UNKNOWN_FOR_HOURS * 3_600_000;
  return isLapsed ? 'unverified' : 'verified';
};
