/** What can be wrong with a Receipt: a closed list of codes, so that a caller can act on each. */
export type FailureCode =
  /** Not JSON, not an object, or longer than a Receipt can be. */
  | 'malformed-receipt'
  | 'missing-member'
  | 'unknown-member'
  /** A member of the wrong type or format. */
  | 'malformed-member'
  /** `receipt` is not a compact JWS of three canonical base64url parts. */
  | 'malformed-jws'
  /** The protected header is not exactly alg EdDSA, kid and the typ of a Receipt. */
  | 'wrong-header'
  /** The payload is not the RFC 8785 form of a JSON object. */
  | 'payload-not-canonical'
  /** The Receipt shows something else than what was signed. */
  | 'payload-mismatch'
  /** The pinned service DID document cannot be read. Nothing is known about the signature. */
  | 'malformed-did-document'
  /** The DID document, or the kid, is of another service. */
  | 'wrong-service'
  /** The kid is not in the document, or not under assertionMethod. */
  | 'unknown-key'
  /** The kid is in the document, but is no strict Ed25519 Multikey. */
  | 'unusable-key'
  | 'wrong-signature'
  /** `evaluated_at` is not the time in `receipt_id`. */
  | 'wrong-time'
  /** A check has an outcome that the outcomes of its requirements rule out. */
  | 'wrong-outcome'
  | 'wrong-decision'
  | 'wrong-reason'
  | 'wrong-result'
  /** A member is there, or is not, against what the checks say (protocol §8). */
  | 'wrong-presence'
  /** Two members contradict each other. */
  | 'contradiction'
  /** Evidence older than the trust configuration allows. */
  | 'stale-evidence'
  /** This version of the library does not know the profile; a later one may. */
  | 'unknown-profile'
  | 'wrong-profile-hash'
  /** This version of the library does not know the trust configuration; a later one may. */
  | 'unknown-trust-config'
  | 'wrong-trust-config-hash';

export interface Failure<Code extends string = FailureCode> {
  readonly code: Code;
  /** What is wrong and what would be right, for people. May quote the Receipt: escape it before showing it. */
  readonly message: string;
  /** JSON pointer (RFC 6901) into the Receipt. Absent where the fault lies outside it. */
  readonly path?: string;
}

export const failure = <Code extends string>(code: Code, message: string, path?: string): Failure<Code> =>
  path === undefined ? { code, message } : { code, message, path };

const MAX_SHOWN_CHARS = 80;

/** A value as a short JSON text, for messages. */
export const show = (value: unknown): string => {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch {
    text = undefined;
  }
  if (text === undefined) return `a value that is not JSON (${typeof value})`;
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
};
