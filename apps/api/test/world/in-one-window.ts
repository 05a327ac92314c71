/** Bursts against limits that count in windows of the real clock. */

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/**
 * Runs a burst inside one window of the clock. A burst during which a window ended is run again, so it must create its
 * own keys, addresses or orgs, by which the limits count.
 */
export const inOneWindow = async <T>(burst: () => Promise<T>, windowMs = MINUTE_MS): Promise<T> => {
  for (;;) {
    const window = Math.floor(Date.now() / windowMs);
    const result = await burst();
    if (window === Math.floor(Date.now() / windowMs)) return result;
  }
};

/** Calls one after the other, so that the order of the counts is known. */
export const times = async <T>(count: number, call: () => Promise<T>): Promise<T[]> => {
  const results = [];
  for (let i = 0; i < count; i++) results.push(await call());
  return results;
};
