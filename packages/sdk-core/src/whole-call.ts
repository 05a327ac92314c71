/** One call that sends several requests to the service, or waits for work that calls share, under one deadline. */
import type { CallOptions } from './call-options.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { SvcError } from './errors.ts';

export interface WholeCall {
  /**
   * Options of the next request: the caller's signal, and the remaining time.
   * @throws SvcError `timeout` or `aborted` once the call is over: nothing more is sent
   */
  rest(): CallOptions;
  /**
   * Ends when `work` ends or when the call ends, whichever is first. `work` then continues for the other calls that
   * share it. Once the call is over, `work` is not started.
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

/** The error of a call that ended by its deadline or by its caller. */
export const callEnded = (why: 'timeout' | 'aborted', cause?: unknown): SvcError =>
  new SvcError(why, why === 'timeout' ? 'no answer before the deadline' : 'aborted by the caller', { cause });

/** An error for a call that may or may not have taken effect. `why` is its message; the details of `error` are kept. */
export function outcomeUnknown(error: SvcError, why: string): SvcError {
  const { code, status, requestId, retryAfterSeconds, message } = error;
  const detail = { code, status, requestId, retryAfterSeconds, cause: error };
  return new SvcError('outcome-unknown', `${why} (${message})`, detail);
}
