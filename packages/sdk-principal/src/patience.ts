/**
 * How long to go on with a call that takes authority away. Its 503 says "recorded, but perhaps not yet visible": until
 * a 200 comes the authority may still be in force, so it is asked for longer and more often than anything else.
 */
export interface Patience {
  readonly maxAttempts: number;
  readonly timeoutMs: number;
}

export const revocationPatience = (timeoutMs: number): Patience => ({
  maxAttempts: 10,
  timeoutMs: 3 * timeoutMs,
});
