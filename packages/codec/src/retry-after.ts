/** As many as nine digits say: of a date beyond that nobody can wait. */
const MAX_SECONDS = 999_999_999;

/** Seconds from `Retry-After` in either of its forms (RFC 9110 §10.2.3); null where it is absent or neither. */
export const parseRetryAfter = (value: string | null, nowMs: number): number | null => {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, Math.ceil((atMs - nowMs) / 1000)), MAX_SECONDS);
};
