/**
 * A demand on a request besides Grant and Proof. Types only, so that programs that do not use it do not bundle its
 * code.
 */

/** The parts of a request that are checked. */
export interface SignedRequest {
  readonly method: string;
  /** Absolute URL, as the Agent addressed it. */
  readonly url: string;
  /** The header fields, names in lower case, as received. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** The Proof, not verified yet. */
  readonly proof: string;
}

/** A check of the request's own signature, as `sameKey` makes it. */
export interface SignatureCheck {
  /** The signature to request: the value of `Accept-Signature` (RFC 9421 §5.1). */
  readonly accepts: string;
  /** Null if the signature is valid, else what is wrong, in words that the caller may see. */
  check(request: SignedRequest): Promise<string | null>;
}
