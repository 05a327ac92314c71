/** One verification by the real engine: everything that decides goes through here. */
import { hash } from 'node:crypto';
import type { Idempotency, Verifier, VerifyAnswer } from '@svc/service';
import type { LoggedDecision } from '../http/index.ts';

export type Decide = Verifier['verify'];

/** Null where the request carries no `Idempotency-Key`. */
export const idempotencyOf = (key: string | undefined, bodyText: string | null): Idempotency | null =>
  key === undefined ? null : { key, bodyHash: hash('sha256', bodyText ?? '', 'hex') };

/** As the log has it. */
export const decidedOf = ({ receiptId, decision, reason, replayed }: VerifyAnswer): LoggedDecision => ({
  receiptId,
  decision,
  reason,
  isRepeat: replayed,
});

/** What tells a stored answer from a decision of now. */
export const repeatHeader = (isRepeat: boolean): Readonly<Record<string, string>> =>
  isRepeat ? { 'Svc-Idempotent-Replay': 'true' } : {};
