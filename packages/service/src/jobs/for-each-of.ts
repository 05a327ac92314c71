/** Bounded concurrency for jobs. */

/**
 * Runs `work` on every item, at most `atOnce` at a time, and begins no further item once `stop` is aborted or one has
 * failed. Settles when all begun items have ended: it resolves, or rejects with the first error.
 */
export const forEachOf = async <T>(
  items: readonly T[],
  atOnce: number,
  stop: AbortSignal,
  work: (item: T) => Promise<void>,
): Promise<void> => {
  const left = items.values();
  const failures: unknown[] = [];
  const lane = async (): Promise<void> => {
    for (const item of left) {
      if (stop.aborted || failures.length > 0) return;
      await work(item).catch((error: unknown) => failures.push(error));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  if (failures.length > 0) throw failures[0];
};
