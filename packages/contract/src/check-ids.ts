/** The checks of the engine by number, as the interface lists them (interface §Receipt). */
import { CHECK_IDS, type CheckId, isProtocolCheck, isTrustCheck, PROFILES } from '@svc/protocol';

const byNumber = (a: CheckId, b: CheckId): number => Number(a.slice(1)) - Number(b.slice(1));

export const PROTOCOL_CHECKS = CHECK_IDS.filter(isProtocolCheck).sort(byNumber);
export const TRUST_CHECKS = CHECK_IDS.filter(isTrustCheck).sort(byNumber);

/** Whether every profile runs this check. */
export const isInEveryProfile = (id: CheckId): boolean =>
  Object.values(PROFILES).every(({ checkIds }) => checkIds.includes(id));
