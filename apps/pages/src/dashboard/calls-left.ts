/**
 * Tracks how many calls the rate limit of a key still allows in this minute. Calls that no user asked for leave the
 * last 30.
 */

/** Calls kept for what a user asks for, above all a revocation. */
const KEPT = 30;

/** Rejection of a call that was not sent, since few calls are left. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

export interface CallsLeft {
  /** Whether a call that no user asked for may be sent. */
  readonly areEnough: () => boolean;
  readonly note: (headers: Headers) => void;
  /** Counts a call while it is under way: the figure of the latest answer may not include it. */
  readonly during: <T>(call: Promise<T>) => Promise<T>;
}

export const callsLeft = (): CallsLeft => {
  let remaining = 0;
  let resetAtMs = 0;
  let underWay = 0;
  return {
    areEnough: () => performance.now() >= resetAtMs || remaining - underWay >= KEPT,
    note: (headers) => {
      const told = Number(headers.get('RateLimit-Remaining') ?? Number.NaN);
      if (Number.isNaN(told)) return;
      const endMs = performance.now() + Number(headers.get('RateLimit-Reset')) * 1_000;
      // Answers about one window arrive in any order, and give its end to the second.
      remaining = endMs > resetAtMs + 2_000 ? told : Math.min(remaining, told);
      resetAtMs = endMs;
    },
    during: async (call) => {
      underWay += 1;
      return call.finally(() => {
        underWay -= 1;
      });
    },
  };
};
