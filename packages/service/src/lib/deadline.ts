/** Limits on waiting. They do not stop the work itself; a late result is dropped. */

/** Settles as `work` does. If that takes longer than `ms`, it settles with what `onLate` returns or throws. */
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

/** Settles as `work` does, or rejects as soon as `signal` is aborted; then `work` continues. */
export const untilAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    const giveUp = () => reject(signal.reason);
    if (signal.aborted) giveUp();
    signal.addEventListener('abort', giveUp, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', giveUp));
  });
