/** The clock of a test: it stands still until it is set. */
export interface TestClock {
  /** Milliseconds since the epoch; pass it as `now` to the SDKs. */
  now(): number;
  /** Sets the clock to an RFC 3339 time or a `Date`, also backwards. Throws RangeError for an invalid time. */
  set(time: Date | string): void;
  /** Advances the clock by this number of milliseconds. */
  advance(ms: number): void;
}

/** @throws RangeError for an invalid time */
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
