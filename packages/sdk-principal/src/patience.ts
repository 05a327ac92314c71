/**
 * How long to go on with a call that takes authority away. Its 503 says "recorded, but perhaps not yet visible": until
 * a 200 comes the authority may still be in force, so it is asked for longer than anything else.
 */
export interface Patience {
  readonly timeoutMs: number;
}

/** An Agent may be named by very many Grants, and one call revokes them all. */
const MIN_DISABLE_MS = 45_000;

export const revocationPatience = (timeoutMs: number): Patience => ({
  timeoutMs: 3 * timeoutMs,
});

export const disablePatience = (timeoutMs: number): Patience => ({
  timeoutMs: Math.max(MIN_DISABLE_MS, 3 * timeoutMs),
});
