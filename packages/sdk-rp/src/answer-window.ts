/**
 * The period in which the Receipt of an answer must have been evaluated. A Receipt's signature stays valid, so an old
 * answer that somebody kept would still allow after a revocation. Therefore the Receipt must have been evaluated during
 * the call; the window tolerates small differences between the clocks. Pure: no clock.
 */
import { formatTimestamp } from '@svc/codec';
import type { Receipt } from '@svc/receipts';
import type { ReceiptFailure } from './receipt-failure.ts';

/** Instants by the caller's clock, in milliseconds since the epoch; both bounds are included. */
export interface AnswerWindow {
  /** The beginning of the call, minus the time by which the service's clock may be behind. */
  notBeforeMs: number;
  /** The arrival of the answer, plus the time by which the service's clock may be ahead. */
  notAfterMs: number;
}

export interface ClockDifference {
  readonly behindMs: number;
  readonly aheadMs: number;
}

/** How long the service repeats an answer for its `Idempotency-Key` (protocol §7). */
const REPEATED_FOR_MS = 600_000;

export interface CallTimes {
  readonly beganMs: number;
  readonly answeredMs: number;
  /** The caller chose an `Idempotency-Key`, and so accepts the answer of an earlier call. */
  readonly mayRepeat: boolean;
}

export const windowOf = (
  { beganMs, answeredMs, mayRepeat }: CallTimes,
  { behindMs, aheadMs }: ClockDifference,
): AnswerWindow => ({
  notBeforeMs: beganMs - behindMs - (mayRepeat ? REPEATED_FOR_MS : 0),
  notAfterMs: answeredMs + aheadMs,
});

/** Whether the Receipt must come from an earlier call, even if the answer does not say so. */
export const isOfEarlierCall = (
  receipt: Receipt,
  { beganMs }: CallTimes,
  { behindMs }: ClockDifference,
): boolean => Date.parse(receipt.evaluated_at) < beganMs - behindMs;

export function timeFailures(receipt: Receipt, window: AnswerWindow | undefined): ReceiptFailure[] {
  if (window === undefined) return [];
  const evaluatedMs = Date.parse(receipt.evaluated_at);
  const what = `the Receipt was evaluated at ${receipt.evaluated_at}`;
  const fail = (code: string, message: string): ReceiptFailure[] => [
    { code, message: `${what}, ${message}`, path: '/evaluated_at' },
  ];
  if (!(evaluatedMs >= window.notBeforeMs))
    return fail(
      'old-answer',
      `before ${shown(window.notBeforeMs)}, the earliest for this call by the clock here: it is the answer to an earlier call, or the clock here is ahead of the service's`,
    );
  if (!(evaluatedMs <= window.notAfterMs))
    return fail(
      'clock-behind',
      `after ${shown(window.notAfterMs)}, the latest for this call by the clock here: the clock here is behind the service's`,
    );
  return [];
}

const END_OF_9999_MS = 253_402_300_800_000;

/** A bound may be any number, so formatting it must not throw. */
const shown = (ms: number): string =>
  ms >= 0 && ms < END_OF_9999_MS ? formatTimestamp(Math.floor(ms)) : String(ms);
