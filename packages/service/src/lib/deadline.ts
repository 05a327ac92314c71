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
