/** One deadline for everything a call does, retries and waits included, combined with the caller's signal. */
export interface Deadline {
  /** Fires on expiry or when the caller's signal fires. */
  readonly signal: AbortSignal;
  /** Why the call is over, or null before that. Decided by the clock: a late timer does not extend the deadline. */
  readonly ended: 'timeout' | 'aborted' | null;
  remainingMs(): number;
  /** Settles as `work` does, or rejects when the signal fires, even if `work` ignores the signal. */
  within<T>(work: Promise<T>): Promise<T>;
  /** Must be called when the call is over: clears the timer and removes the listener. */
  clear(): void;
}

export function startDeadline(timeoutMs: number, callerSignal?: AbortSignal): Deadline {
  const controller = new AbortController();
  const endsAtMs = performance.now() + timeoutMs;
  let ended: Deadline['ended'] = null;
  const end = (why: 'timeout' | 'aborted') => {
    ended ??= why;
    controller.abort();
  };
  const timer = setTimeout(end, timeoutMs, 'timeout');
  const onAbort = () => end('aborted');
  if (callerSignal?.aborted) onAbort();
  callerSignal?.addEventListener('abort', onAbort, { once: true });
  return {
    signal: controller.signal,
    get ended() {
      return ended ?? (performance.now() < endsAtMs ? null : 'timeout');
    },
    remainingMs: () => endsAtMs - performance.now(),
    within: (work) => within(work, controller.signal),
    clear() {
      clearTimeout(timer);
      callerSignal?.removeEventListener('abort', onAbort);
    },
  };
}

function within<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(new Error('the deadline passed'));
    if (signal.aborted) onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    const done = () => signal.removeEventListener('abort', onAbort);
    work.then(resolve, reject).finally(done);
  });
}
