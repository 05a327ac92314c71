/**
 * Maximum duration of a round of a job. After it, other processes that wait for the same job or for its locks get their
 * turn.
 */
const ROUND_MS = 60_000;

/**
 * A function that returns whether the round may begin more work: until `stop` is aborted or the time is over, by
 * default a minute.
 */
export const roundUntil = (stop: AbortSignal, ms = ROUND_MS): (() => boolean) => {
  const endsMs = performance.now() + ms;
  return () => !stop.aborted && performance.now() < endsMs;
};
