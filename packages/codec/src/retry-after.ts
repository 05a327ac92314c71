/** The largest number with nine digits, some 31 years. A date that is further ahead gives this number. */
const MAX_SECONDS = 999_999_999;

/** Seconds from `Retry-After` in either of its forms (RFC 9110 §10.2.3); null if it is absent or has neither form. */
export const parseRetryAfter = (value: string | null, nowMs: number): number | null => {
  if (value === null) return null;
  if (/^\d{1,9}$/.test(value)) return Number(value);
  const atMs = Date.parse(value);
  return Number.isNaN(atMs) ? null : Math.min(Math.max(0, Math.ceil((atMs - nowMs) / 1000)), MAX_SECONDS);
};
