/** The time of a test: it stands still until it is set. */
export interface TestClock {
  /** Milliseconds since the epoch; what `now` options of the SDKs take. */
  now(): number;
  /** To a time of RFC 3339, or a `Date`; backwards too. Throws RangeError for what is no time. */
  set(time: Date | string): void;
  /** By so many milliseconds. */
  advance(ms: number): void;
}

/** @throws RangeError for what is no time */
export function createClock(start: Date | string): TestClock {
  const read = (time: Date | string): number => {
    const ms = new Date(time).getTime();
    if (Number.isNaN(ms)) throw new RangeError(`no time: ${String(time)}`);
    return ms;
  };
  let nowMs = read(start);
  return {
    now: () => nowMs,
    set: (time) => {
      nowMs = read(time);
    },
    advance: (ms) => {
      nowMs = read(new Date(nowMs + ms));
    },
  };
}
