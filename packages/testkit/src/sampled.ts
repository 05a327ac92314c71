/**
 * How much of itself a test runs. `npm test` samples every guarantee in minutes; `npm run test:deep` runs all of it. A
 * sample must still be able to fail. A control (the unprotected version must break) stops at its first find, so it
 * keeps all its tries.
 *
 * `npm run test:deep -- --beyond-sample` runs the files that import this module (scripts/beyond-sample.mjs).
 */

/**
 * For `it.runIf` and `describe.runIf`: tests for `npm run test:deep` only, since the sample has another of their kind.
 */
export const isDeep = process.env.SVC_TEST_DEPTH === 'deep';

/** A size for this run: of loops, of fast-check's `numRuns`, of the part taken from a list. */
export const sampled = <T>({ quick, deep }: { readonly quick: T; readonly deep: T }): T =>
  isDeep ? deep : quick;

/** All of a list in a deep run; otherwise `count` items: the first, the last and others evenly spread between. */
export const sampleOf = <T>(all: readonly T[], count: number): readonly T[] => {
  if (isDeep || all.length <= count) return all;
  const step = (all.length - 1) / Math.max(1, count - 1);
  return Array.from({ length: count }, (_, i) => all[Math.round(i * step)] as T);
};
