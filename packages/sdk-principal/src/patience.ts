/**
 * How long to retry a call that takes authority away. Its 503 means "recorded, but perhaps not yet visible". Until a
 * 200 comes, the authority may still be in force, so these calls are retried for longer than others.
 */
export interface Patience {
  readonly timeoutMs: number;
}

/** Many Grants may name an Agent, and one call revokes them all. */
const MIN_DISABLE_MS = 45_000;

export const revocationPatience = (timeoutMs: number): Patience => ({
  timeoutMs: 3 * timeoutMs,
});

export const disablePatience = (timeoutMs: number): Patience => ({
  timeoutMs: Math.max(MIN_DISABLE_MS, 3 * timeoutMs),
});
