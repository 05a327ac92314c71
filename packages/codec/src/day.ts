/** UTC days as text, `YYYY-MM-DD`. */

export const DAY_MS = 86_400_000;

/**
 * The UTC day of an instant between the years 0 and 9999; other years do not have four digits. Throws RangeError beyond
 * the range of `Date`.
 */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);

/** The start of a day in milliseconds since the epoch. */
export const dayStartMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);
