/** The calls that the limit of a key leaves in its minute: what nobody asked for does not use up the last of them. */

/** Left to what somebody asks for, a revocation above all. */
const KEPT = 30;

/** What was not sent. */
export class NotNow extends Error {
  override readonly name = 'NotNow';
}

export interface CallsLeft {
  /** Whether what nobody asked for may be sent. */
  readonly areEnough: () => boolean;
  readonly note: (headers: Headers) => void;
  /** Counts a call that may not be in the figure of the latest answer. */
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
      // Answers about one window come in any order, and say its end to the second.
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
