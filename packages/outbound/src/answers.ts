/**
 * What the outside answered, as values. Nothing that a remote host or a resolver does is an exception here; `why` is
 * for logs and operators, names the fault and never repeats text or addresses that came from outside.
 */

/** Why no usable answer came, for callers that treat some of these as an answer of their own. */
export type UnreachableFault =
  /** Too many requests under way and waiting. */
  | 'busy'
  | 'deadline'
  /** The resolver failed: no answer, SERVFAIL, a broken message. */
  | 'dns'
  /** DNS answered, and positively: the name does not exist or has no address. */
  | 'no-address'
  | 'connect'
  | 'tls'
  /** Not HTTP/1.1 to the end: a broken message, closed early, headers too long. */
  | 'protocol'
  /** A content or transfer coding that was not asked for. */
  | 'encoding'
  /** A successful answer with more than `maxBytes`. */
  | 'too-large';

export interface Unreachable {
  readonly kind: 'unreachable';
  readonly fault: UnreachableFault;
  readonly why: string;
}

/** The policy forbids it. `url` and `name`: by what was asked, for ever. `address`: by what DNS says now. */
export type RefusalRule = 'url' | 'name' | 'address';

export interface Refused {
  readonly kind: 'refused';
  readonly rule: RefusalRule;
  readonly why: string;
}

export interface Answered {
  readonly kind: 'answered';
  /** As the host gave it, redirects included. */
  readonly status: number;
  readonly contentType: string | null;
  /** The header as it came. */
  readonly retryAfter: string | null;
  /** Complete for 2xx, and for 400 where that is to be read; else, and where none was to be read, this is empty. */
  readonly body: Uint8Array;
}

export type OutboundAnswer = Answered | Refused | Unreachable;

/** `absent` is a positive answer (NXDOMAIN, or no TXT record at the name); a failure is never `absent`. */
export type TxtAnswer =
  | { readonly kind: 'records'; readonly records: readonly string[] }
  | { readonly kind: 'absent' }
  | Refused
  | Unreachable;

/** Carries a fault from where it is seen to where the answer is made. Does not leave this package. */
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
