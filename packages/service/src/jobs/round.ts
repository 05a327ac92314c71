/** How long a job works at a stretch: the locks of others, and what waits for the same job, come round again. */
const ROUND_MS = 60_000;

/** Whether a round may begin more work: until it is told to stop, or its time, a minute, is over. */
export const roundUntil = (stop: AbortSignal, ms = ROUND_MS): (() => boolean) => {
  const endsMs = performance.now() + ms;
  return () => !stop.aborted && performance.now() < endsMs;
};
