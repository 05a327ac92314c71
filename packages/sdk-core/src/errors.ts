/**
 * The one error class of the client libraries. `kind` says what happened and what may be done; `code`, `status` and
 * `requestId` are the service's own words when it answered (interface §Errors). A verdict is never an error.
 */

/** Every `kind`; each has a page in the guide of the service, at `/guide/kinds/<kind>`, which `help-texts.ts` says. */
export const ERROR_KINDS = [
  'invalid-argument',
  'configuration',
  'refused',
  'network',
  'timeout',
  'aborted',
  'outcome-unknown',
  'bad-response',
  'receipt-invalid',
  'request-mismatch',
  'webhook-invalid',
  'redirect-refused',
] as const;

/**
 * - `invalid-argument`: refused here; nothing was sent.
 * - `configuration`: no key, no address, no cryptography, a key that is not this signer's, or a clock that is wrong.
 * - `refused`: the service answered with an error; see `code` and `status`. Only after a 503 may the call have taken
 *   effect.
 * - `network`: the service could not be reached; nothing happened.
 * - `timeout`: no answer in time to a call that changes nothing.
 * - `aborted`: the caller's signal fired; if the call had been sent, whether it took effect is unknown.
 * - `outcome-unknown`: a call that changes something was sent, and its answer was lost, came from a gateway or tells of a
 *   fault of the service (any 5xx but 503), or was a 503 and a later attempt ended otherwise; it may or may not have taken effect.
 * - `bad-response`: an answer that the interface does not allow.
 * - `receipt-invalid`: a Receipt came that cannot be trusted, or is about something else; a decision may have been made.
 * - `request-mismatch`: the Proof is for another HTTP request than the one received.
 * - `webhook-invalid`: a webhook that is not to be believed, or not fresh: answer it 400.
 * - `redirect-refused`: following would have carried a Grant and a Proof to another address.
 */
export type SvcErrorKind = (typeof ERROR_KINDS)[number];

export interface SvcErrorDetail {
  /** The `error` member of the answer, e.g. `RATE_LIMITED`. */
  code?: string | null;
  /** The HTTP status of the answer. */
  status?: number | null;
  /** The answer's `Svc-Request-Id`. */
  requestId?: string | null;
  /** Seconds of the answer's `Retry-After`. */
  retryAfterSeconds?: number | null;
  /** The page in the answer's `Link`; or the page about the `kind`, filled in where the service's address is known. */
  helpUrl?: string | null;
  cause?: unknown;
}

/** What the clients throw, and nothing else. `kind` says what happened and what may be done. */
export interface SvcError extends Error {
  readonly name: 'SvcError';
  readonly kind: SvcErrorKind;
  /** The `error` member of the service's answer, such as `RATE_LIMITED`; null without an answer. */
  readonly code: string | null;
  /** The HTTP status of the answer; null without one. */
  readonly status: number | null;
  /** The answer's `Svc-Request-Id`, for the service's operator; null without one. */
  readonly requestId: string | null;
  /** Seconds of the answer's `Retry-After`; null without one. */
  readonly retryAfterSeconds: number | null;
  /**
   * The page of the service's guide about `code`, or else about `kind`, with its remedy; null where no service's
   * address is known, or the service could not be reached.
   */
  readonly helpUrl: string | null;
}

/** The type of the class `SvcError`. */
export interface SvcErrorConstructor {
  new (kind: SvcErrorKind, message: string, detail?: SvcErrorDetail): SvcError;
  readonly prototype: SvcError;
}

/**
 * `isSvcError` tests for this mark and not for the class, so it knows errors of another realm or of another copy of the
 * package.
 */
const MARK = Symbol.for('@svc/SvcError');

/** Where the class is that all copies of this file share; the number goes up with its shape. */
const SHARED = Symbol.for('@svc/SvcError/2');

const createClass = (): SvcErrorConstructor => {
  class Created extends Error implements SvcError {
    override readonly name = 'SvcError';
    readonly kind: SvcErrorKind;
    readonly code: string | null;
    readonly status: number | null;
    readonly requestId: string | null;
    readonly retryAfterSeconds: number | null;
    readonly helpUrl: string | null;

    constructor(kind: SvcErrorKind, message: string, detail: SvcErrorDetail = {}) {
      super(message, detail.cause === undefined ? undefined : { cause: detail.cause });
      Object.defineProperty(this, MARK, { value: true });
      this.kind = kind;
      this.code = detail.code ?? null;
      this.status = detail.status ?? null;
      this.requestId = detail.requestId ?? null;
      this.retryAfterSeconds = detail.retryAfterSeconds ?? null;
      this.helpUrl = detail.helpUrl ?? null;
    }
  }
  Object.defineProperty(Created, 'name', { value: 'SvcError' });
  /** A class that extends it is asked as any other. */
  Object.defineProperty(Created, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== Created) return Function.prototype[Symbol.hasInstance].call(this as object, value);
      return typeof value === 'object' && value !== null && MARK in value;
    },
  });
  return Created;
};

/** Each client library holds a copy of this file for `import` and one for `require`: the first that is loaded makes the class. */
const shareClass = (): SvcErrorConstructor => {
  const found: SvcErrorConstructor | undefined = Reflect.get(globalThis, SHARED);
  if (found !== undefined) return found;
  const created = createClass();
  // A global object that takes nothing more leaves each copy its own: `instanceof` goes by the mark.
  Reflect.defineProperty(globalThis, SHARED, { value: created });
  return created;
};

/**
 * The class of what the clients throw: one and the same, whichever package it comes from, imported or required.
 *
 * @example
 * const mayBeRepeated = (error: unknown) => error instanceof SvcError && ['network', 'timeout'].includes(error.kind);
 */
export const SvcError: SvcErrorConstructor = /* @__PURE__ */ shareClass();
