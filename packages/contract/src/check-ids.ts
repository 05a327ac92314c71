/** The checks of the engine by number, as the interface lists them (interface §Receipt). */
import { type CheckId, PROTOCOL_CHECK_IDS, TRUST_CHECK_IDS } from '@svc/protocol';

const byNumber = (a: CheckId, b: CheckId): number => Number(a.slice(1)) - Number(b.slice(1));

export const PROTOCOL_CHECKS = [...PROTOCOL_CHECK_IDS].sort(byNumber);
export const TRUST_CHECKS = [...TRUST_CHECK_IDS].sort(byNumber);
