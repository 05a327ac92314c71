/** One verification by the engine. Every request for a decision goes through this module. */
import { hash } from 'node:crypto';
import type { Idempotency, Verifier, VerifyAnswer } from '@svc/service';
import type { LoggedDecision } from '../http/index.ts';

export type Decide = Verifier['verify'];

/** Null where the request carries no `Idempotency-Key`. */
export const idempotencyOf = (key: string | undefined, bodyText: string | null): Idempotency | null =>
  key === undefined ? null : { key, bodyHash: hash('sha256', bodyText ?? '', 'hex') };

/** The decision in the form of the log. */
export const decidedOf = ({ receiptId, decision, reason, replayed }: VerifyAnswer): LoggedDecision => ({
  receiptId,
  decision,
  reason,
  isRepeat: replayed,
});

/** The header that distinguishes a stored answer from a new decision. */
export const repeatHeader = (isRepeat: boolean): Readonly<Record<string, string>> =>
  isRepeat ? { 'Svc-Idempotent-Replay': 'true' } : {};
