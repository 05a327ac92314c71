/** What is counted by the UTC day begins anew at its end. */

const DAY_MS = 86_400_000;

export const secondsUntilTomorrow = (nowMs: number): number => Math.ceil((DAY_MS - (nowMs % DAY_MS)) / 1000);
