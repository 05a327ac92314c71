/** A demand on a request beside Grant and Proof. Types alone, so that who does not use it does not carry it. */

/** What is looked at. */
export interface SignedRequest {
  readonly method: string;
  /** Absolute, as the Agent addressed it. */
  readonly url: string;
  /** The header fields, names in lower case, as received. */
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  /** The Proof, not verified yet. */
  readonly proof: string;
}

/** A check of the request's own signature, as `sameKey` makes it. */
export interface SignatureCheck {
  /** What to ask for: the value of `Accept-Signature` (RFC 9421 §5.1). */
  readonly accepts: string;
  /** Null where it holds, else what is wrong, in words that may be told to the caller. */
  check(request: SignedRequest): Promise<string | null>;
}
