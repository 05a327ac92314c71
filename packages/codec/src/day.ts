/** UTC days as text, `YYYY-MM-DD`. */

export const DAY_MS = 86_400_000;

/**
 * The day of an instant between the years 0 and 9999; others have none of four digits. Throws RangeError beyond what
 * `Date` holds.
 */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 'YYYY-MM-DD'.length);

/** The start of a day in milliseconds since the epoch. */
export const dayStartMs = (day: string): number => Date.parse(`${day}T00:00:00Z`);
