/** One call that asks the service more than once, or waits for what others share: one deadline over all of it. */
import type { CallOptions } from './call-options.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { SvcError } from './errors.ts';

export interface WholeCall {
  /**
   * For what is sent next: the caller's signal, and what is left of the time.
   * @throws SvcError `timeout` or `aborted` once the call is over: nothing is sent any more
   */
  rest(): CallOptions;
  /**
   * Ends as `work` does, or with the call, whichever is first. `work` then goes on for whoever shares it. It is not begun
   * once the call is over.
   * @throws SvcError
   */
  wait<T>(work: () => Promise<T>): Promise<T>;
}

export async function callAsWhole<T>(
  { timeoutMs, signal }: CallOptions & { readonly timeoutMs: number },
  work: (whole: WholeCall) => Promise<T>,
): Promise<T> {
  const deadline = startDeadline(timeoutMs, signal);
  try {
    return await work(wholeCall(deadline, signal));
  } finally {
    deadline.clear();
  }
}

const wholeCall = (deadline: Deadline, signal: AbortSignal | undefined): WholeCall => ({
  rest() {
    if (deadline.ended !== null) throw callEnded(deadline.ended);
    const timeoutMs = Math.max(1, Math.floor(deadline.remainingMs()));
    return signal === undefined ? { timeoutMs } : { timeoutMs, signal };
  },
  async wait(work) {
    if (deadline.ended !== null) throw callEnded(deadline.ended);
    try {
      return await deadline.within(work());
    } catch (cause) {
      throw deadline.ended === null ? cause : callEnded(deadline.ended, cause);
    }
  },
});

/** The error of a call that its deadline or its caller has ended. */
export const callEnded = (why: 'timeout' | 'aborted', cause?: unknown): SvcError =>
  new SvcError(why, why === 'timeout' ? 'no answer before the deadline' : 'aborted by the caller', { cause });

/** `why` it is not known whether the call took effect, with all that is known of the error. */
export function outcomeUnknown(error: SvcError, why: string): SvcError {
  const { code, status, requestId, retryAfterSeconds, message } = error;
  const detail = { code, status, requestId, retryAfterSeconds, cause: error };
  return new SvcError('outcome-unknown', `${why} (${message})`, detail);
}
