/** The days that are filled: a year and a day, the longest range that counts can be asked for, up to yesterday. */
export const DAY_MS = 86_400_000;
export const DAYS = 366;

export const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS;
export const dateOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);
