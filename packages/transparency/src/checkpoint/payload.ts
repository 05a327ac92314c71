/**
 * The payload of a checkpoint (interface §Transparency). A checkpoint is a compact JWS by a status key over the RFC
 * 8785 form of this payload.
 */

/** The `typ` of a checkpoint's protected header. */
export const CHECKPOINT_TYP = 'svc-checkpoint+jwt';
/** The value of a checkpoint's `tree`: an RFC 6962 tree with SHA-256. */
export const TREE = 'rfc6962-sha256';
/** Maximum length of a checkpoint's JWS, in characters: enough for the longest valid DID. */
export const CHECKPOINT_MAX_CHARS = 4096;

/** The payload of a day's checkpoint (interface §Transparency, protocol §12). */
export interface Checkpoint {
  /** The service's did:web DID. */
  readonly iss: string;
  /** `YYYY-MM-DD`, in UTC. */
  readonly day: string;
  /** Number of Receipts of the day. */
  readonly tree_size: number;
  /** `sha256:…` over the Receipts of the day in ascending order of their ids. */
  readonly root: string;
  /** Root of the previous day; null on the service's first day. */
  readonly previous_root: string | null;
  /** Null on a day without Receipts, like `last_receipt_id`. */
  readonly first_receipt_id: string | null;
  readonly last_receipt_id: string | null;
  /** Time at which the day was closed, in seconds since the epoch. Never before the end of the day. */
  readonly iat: number;
  readonly tree: typeof TREE;
}
