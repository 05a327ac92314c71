/**
 * The one error class of the client libraries. `kind` says what happened and what the caller may do. `code`, `status`
 * and `requestId` come from the service's answer, if there was one (interface §Errors). A verdict is never an error.
 */

import { isMarked } from '@svc/codec';

/** Every `kind`. Each has a page in the service's guide, at `/guide/kinds/<kind>`; its text is in `help-texts.ts`. */
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
 * - `invalid-argument`: the library refused an argument; nothing was sent.
 * - `configuration`: no key, no address, no cryptography, a key that is not this signer's, or a wrong clock.
 * - `refused`: the service answered with an error; see `code` and `status`. Only after a 503 may the call have taken
 *   effect.
 * - `network`: the service could not be reached; nothing happened.
 * - `timeout`: a call that changes nothing got no answer in time.
 * - `aborted`: the caller's signal fired. If the call had been sent, it is unknown whether it took effect.
 * - `outcome-unknown`: a call that changes something was sent, and may or may not have taken effect. Its answer was
 *   lost; or it came from a gateway or reports a fault of the service (any 5xx except 503); or it was a 503 and a later
 *   attempt ended otherwise.
 * - `bad-response`: the interface does not allow this answer.
 * - `receipt-invalid`: a Receipt came that cannot be trusted, or that is about something else. A decision may have been
 *   made.
 * - `request-mismatch`: the Proof is for another HTTP request than the one received.
 * - `webhook-invalid`: the webhook is not authentic or not fresh: answer it 400.
 * - `redirect-refused`: following the redirect would have sent a Grant and a Proof to another address.
 */
export type SvcErrorKind = (typeof ERROR_KINDS)[number];

export interface SvcErrorDetail {
  /** The `error` member of the answer, for example `RATE_LIMITED`. */
  code?: string | null;
  /** The HTTP status of the answer. */
  status?: number | null;
  /** The answer's `Svc-Request-Id`. */
  requestId?: string | null;
  /** The answer's `Retry-After`, in seconds. */
  retryAfterSeconds?: number | null;
  /** The page in the answer's `Link`; else the page about the `kind`, added where the service's address is known. */
  helpUrl?: string | null;
  cause?: unknown;
}

/** The only error that the clients throw. `kind` says what happened and what the caller may do. */
export interface SvcError extends Error {
  readonly name: 'SvcError';
  readonly kind: SvcErrorKind;
  /** The `error` member of the service's answer, such as `RATE_LIMITED`; null without an answer. */
  readonly code: string | null;
  /** The HTTP status of the answer; null without one. */
  readonly status: number | null;
  /** The answer's `Svc-Request-Id`, for the service's operator; null without one. */
  readonly requestId: string | null;
  /** The answer's `Retry-After`, in seconds; null without one. */
  readonly retryAfterSeconds: number | null;
  /**
   * The page of the service's guide about `code`, or else about `kind`, with the remedy. Null where the service's
   * address is unknown or the service could not be reached.
   */
  readonly helpUrl: string | null;
}

/** The type of the class `SvcError`. */
export interface SvcErrorConstructor {
  new (kind: SvcErrorKind, message: string, detail?: SvcErrorDetail): SvcError;
  readonly prototype: SvcError;
}

/**
 * `isSvcError` tests for this mark instead of the class, so it recognises errors of another realm or another copy of
 * the package.
 */
const MARK = Symbol.for('@svc/SvcError');

/**
 * The global property that holds the class for all copies of this file. The number rises when the class changes shape.
 */
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
  /** A subclass keeps the default `instanceof`. */
  Object.defineProperty(Created, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      return isMarked(this, Created, MARK, value);
    },
  });
  return Created;
};

/**
 * Each client library has one copy of this file for `import` and one for `require`. The copy loaded first makes the
 * class.
 */
const shareClass = (): SvcErrorConstructor => {
  const found: SvcErrorConstructor | undefined = Reflect.get(globalThis, SHARED);
  if (found !== undefined) return found;
  const created = createClass();
  // If the global object cannot be extended, each copy keeps its own class, and `instanceof` still works by the mark.
  Reflect.defineProperty(globalThis, SHARED, { value: created });
  return created;
};

/**
 * The class of everything that the clients throw. It is the same class whichever package it comes from, imported or
 * required.
 *
 * @example
 * const mayBeRepeated = (error: unknown) => error instanceof SvcError && ['network', 'timeout'].includes(error.kind);
 */
export const SvcError: SvcErrorConstructor = /* @__PURE__ */ shareClass();
