/** A bound on waiting. The work itself is not stopped: what it comes to afterwards is dropped. */

/** Settles as `work` does or, where that takes longer than `ms`, as `onLate` answers or throws then. */
export const withinMs = async <T, Late>(
  ms: number,
  work: Promise<T>,
  onLate: () => Late,
): Promise<T | Late> => {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  try {
    return await Promise.race([work, late.then(onLate)]);
  } finally {
    clearTimeout(timer);
  }
};

/** Settles as `work` does, or rejects as soon as `signal` is aborted; `work` goes on then. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
