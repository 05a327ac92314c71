/** Rate limits of callers (interface §Limits, protocol §13). */

/** Requests per one-minute window and node. */
export interface RateLimits {
  /** Per key. */
  readonly authenticatedPerMinute: number;
  /** All keys of a subject together: more than one key may make. */
  readonly subjectPerMinute: number;
  /** An org with all its members. */
  readonly orgPerMinute: number;
  /** Limit of all keys of a relying party together, as a multiple of the limit of one key. */
  readonly keysWorthOfVerifies: number;
  readonly orgVerifiesPerMinute: number;
  /**
   * The same of an org that signed itself up and has no plan. Lower, since each verification stores a Receipt for ever.
   */
  readonly newcomerVerifiesPerMinute: number;
  /** Requests under way at once, without verifications. */
  readonly subjectAtOnce: number;
  readonly orgAtOnce: number;
  /**
   * Calls of a key that take authority away and are let in whatever other keys of its subject have used up: the first
   * in a minute, and at once. A key that was issued within the last minute has no such calls.
   */
  readonly reservedPerMinute: number;
  readonly reservedAtOnce: number;
  /** Calls of self-serve, per provision key. */
  readonly selfServePerMinute: number;
  /** Calls of the sandbox, per client address. */
  readonly sandboxPerMinute: number;
  readonly publicPerMinute: number;
  /**
   * Pages for people, per client address. A separate limit, so that reading the guide does not count against key
   * documents.
   */
  readonly pagesPerMinute: number;
  readonly failedAuthenticationsPerMinute: number;
  /** Look-ups of credentials for addresses that share an exhausted count with others (`AddressLimiter.isShared`). */
  readonly sharedLookUpsPerMinute: number;
  /** Number of addresses, and of networks of each width, that one limit counts separately. */
  readonly countedAddresses: number;
}

export const RATE_LIMITS: RateLimits = {
  authenticatedPerMinute: 120,
  subjectPerMinute: 600,
  orgPerMinute: 2_400,
  keysWorthOfVerifies: 5,
  orgVerifiesPerMinute: 1_000_000,
  newcomerVerifiesPerMinute: 600,
  subjectAtOnce: 128,
  orgAtOnce: 256,
  reservedPerMinute: 30,
  reservedAtOnce: 6,
  selfServePerMinute: 60,
  sandboxPerMinute: 60,
  publicPerMinute: 300,
  pagesPerMinute: 300,
  failedAuthenticationsPerMinute: 20,
  sharedLookUpsPerMinute: 1_200,
  countedAddresses: 100_000,
};
