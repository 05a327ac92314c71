/** What can be wrong with a signed checkpoint: a closed list of codes, named as those of `@svc/receipts` are. */
export type CheckpointFailureCode =
  /** Not a compact JWS of three canonical base64url parts over JSON objects, or too long. */
  | 'malformed-jws'
  /** The protected header is not exactly alg EdDSA, a kid of the service's status keys, and the typ of a checkpoint. */
  | 'wrong-header'
  /** The payload is not the RFC 8785 form of its JSON. */
  | 'payload-not-canonical'
  | 'missing-member'
  | 'unknown-member'
  | 'malformed-member'
  /** Two members contradict each other. */
  | 'contradiction'
  | 'wrong-service'
  | 'unknown-key'
  /** The key is not canonical, of small order or not torsion-free. */
  | 'unusable-key'
  | 'wrong-signature';

export interface CheckpointFailure {
  readonly code: CheckpointFailureCode;
  /** For people. May quote the checkpoint: escape it before showing it. */
  readonly message: string;
  /** JSON pointer (RFC 6901) into the payload. Absent where the fault lies outside it. */
  readonly path?: string;
}

export const failure = (code: CheckpointFailureCode, message: string, path?: string): CheckpointFailure =>
  path === undefined ? { code, message } : { code, message, path };

const MAX_SHOWN_CHARS = 80;

/** A JSON value as a short text, for messages. */
export const show = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'absent';
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
};
