/** How many requests callers may make (interface §Limits, and protocol §13). */

/** Requests per one-minute window and node. */
export interface RateLimits {
  /** Per key. */
  readonly authenticatedPerMinute: number;
  /** All keys of a subject together: more than one key may make, so that a stolen one does not use it up. */
  readonly subjectPerMinute: number;
  /** An org with all its members. */
  readonly orgPerMinute: number;
  /** All keys of a relying party together, as a multiple of what one may make. */
  readonly keysWorthOfVerifies: number;
  readonly orgVerifiesPerMinute: number;
  /** The same of an org that signed itself up and has no plan: each is a Receipt that is kept for ever. */
  readonly newcomerVerifiesPerMinute: number;
  /** Requests under way at once, but verifications. */
  readonly subjectAtOnce: number;
  readonly orgAtOnce: number;
  /** Calls of self-serve, per provision key. */
  readonly selfServePerMinute: number;
  /** Calls of the sandbox, per client address. */
  readonly sandboxPerMinute: number;
  readonly publicPerMinute: number;
  /** Pages for people, per client address: apart, so that reading the guide takes nothing from the documents of keys. */
  readonly pagesPerMinute: number;
  readonly failedAuthenticationsPerMinute: number;
  /** Look-ups of credentials for addresses that have used that up together with others (`AddressLimiter.isShared`). */
  readonly sharedLookUpsPerMinute: number;
  /** Addresses, and networks of each width, that one limit counts apart. */
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
  selfServePerMinute: 60,
  sandboxPerMinute: 60,
  publicPerMinute: 300,
  pagesPerMinute: 300,
  failedAuthenticationsPerMinute: 20,
  sharedLookUpsPerMinute: 1_200,
  countedAddresses: 100_000,
};
