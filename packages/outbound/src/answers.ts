/**
 * The answers of outside hosts, as values. Nothing that a remote host or a resolver does raises an exception here.
 * `why` is for logs and operators; it names the fault, and never repeats text or addresses from outside.
 */

/** Why there is no usable answer. Some callers treat some of these faults as an answer. */
export type UnreachableFault =
  /** Too many requests are under way and waiting. */
  | 'busy'
  | 'deadline'
  /** The resolver failed: no answer, SERVFAIL, a malformed message. */
  | 'dns'
  /** DNS answered positively that the name does not exist or has no address. */
  | 'no-address'
  | 'connect'
  | 'tls'
  /** The answer was not complete HTTP/1.1: malformed, closed early, or with headers too long. */
  | 'protocol'
  /** A content or transfer coding that was not requested. */
  | 'encoding'
  /** A successful answer of more than `maxBytes`. */
  | 'too-large';

export interface Unreachable {
  readonly kind: 'unreachable';
  readonly fault: UnreachableFault;
  readonly why: string;
}

/**
 * The rule that forbids a request. `url` and `name` depend only on the request and never change; `address` depends on
 * the current DNS answer.
 */
export type RefusalRule = 'url' | 'name' | 'address';

export interface Refused {
  readonly kind: 'refused';
  readonly rule: RefusalRule;
  readonly why: string;
}

export interface Answered {
  readonly kind: 'answered';
  /** The status from the host, redirects included. */
  readonly status: number;
  readonly contentType: string | null;
  /** The header as received. */
  readonly retryAfter: string | null;
  /** Complete for 2xx, and for 400 if `errorBytes` allows it. Otherwise empty, as when no body was to be read. */
  readonly body: Uint8Array;
}

export type OutboundAnswer = Answered | Refused | Unreachable;

/** `absent` is a positive answer (NXDOMAIN, or no TXT record at the name). A failure is never `absent`. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly records: readonly string[] }
  | { readonly kind: 'absent' }
  | Refused
  | Unreachable;

/** Carries a fault from where it is detected to where the answer is made. It does not leave this package. */
export class OutboundFault extends Error {
  readonly answer: Refused | Unreachable;

  constructor(answer: Refused | Unreachable) {
    super(answer.why);
    this.answer = answer;
  }
}

export const refused = (rule: RefusalRule, why: string): Refused => ({ kind: 'refused', rule, why });

export const unreachable = (fault: UnreachableFault, why: string): Unreachable => ({
  kind: 'unreachable',
  fault,
  why,
});

/** The code of a system, TLS or HTTP error (`ECONNREFUSED`, `CERT_HAS_EXPIRED`), or its class. */
export const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
};
