/** The findings of a monitor run. */

export type AlarmCode =
  /** A published day now has a different checkpoint. */
  | 'changed-day'
  /** A published day is no longer served. */
  | 'vanished-day'
  /** The latest day is earlier than a published day that is no longer served. */
  | 'rolled-back'
  /** A day before the latest one was never published. */
  | 'missing-day'
  /** A checkpoint does not continue the previous day's. */
  | 'broken-chain'
  /** The served checkpoint is malformed, not signed by a pinned key, or for another day. */
  | 'wrong-checkpoint'
  /** The published leaves of a day do not have the root of its checkpoint. */
  | 'wrong-leaves'
  /** The published DID document differs from the pin. */
  | 'changed-key';

/** Evidence of misbehaviour: an honest service never causes an alarm. */
export interface Alarm {
  readonly code: AlarmCode;
  /** Null if the alarm concerns no particular day. */
  readonly day: string | null;
  /** For people. May quote text from the service: escape it for display. */
  readonly message: string;
  /** The previous or expected value. Null: none. */
  readonly seen: string | null;
  /** The current value. Null: none. */
  readonly now: string | null;
  /** The proof: signed checkpoints as compact JWS, verifiable by anyone with the service's keys. */
  readonly checkpoints: readonly string[];
}

/** A request without a usable answer: nothing is proven right or wrong. */
export interface Doubt {
  /** The requested path. */
  readonly path: string;
  readonly message: string;
}
