/** Bursts against limits that count in windows of the real clock. */

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/**
 * Runs a burst inside one window of the clock. One that met the turn of a window is run again, so it makes itself whatever is
 * counted by: keys, addresses, orgs.
 */
export const inOneWindow = async <T>(burst: () => Promise<T>, windowMs = MINUTE_MS): Promise<T> => {
  for (;;) {
    const window = Math.floor(Date.now() / windowMs);
    const result = await burst();
    if (window === Math.floor(Date.now() / windowMs)) return result;
  }
};

/** One after the other, so that the order of the counts is known. */
export const times = async <T>(count: number, call: () => Promise<T>): Promise<T[]> => {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await call());
  return results;
};
