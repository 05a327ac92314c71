/** What a look at a service's checkpoints can find, beside that all is well. */

export type AlarmCode =
  /** A published day is another one now. */
  | 'changed-day'
  /** A published day is not served any more. */
  | 'vanished-day'
  /** The latest day lies before one that was published and is not there any more. */
  | 'rolled-back'
  /** A day before the latest one was never published. */
  | 'missing-day'
  /** A day does not follow the one before it. */
  | 'broken-chain'
  /** What is served as a checkpoint is not signed by a pinned key, or is none of this day. */
  | 'wrong-checkpoint'
  /** The leaves of a day are not what its checkpoint was made from. */
  | 'wrong-leaves'
  /** The service does not publish a pinned key as it was pinned. */
  | 'changed-key';

/** Something that an honest service never shows. */
export interface Alarm {
  readonly code: AlarmCode;
  /** Null where it is about no day. */
  readonly day: string | null;
  /** For people. May quote what was served: escape it before showing it. */
  readonly message: string;
  /** What was seen before, or should be. Null: nothing. */
  readonly seen: string | null;
  /** What is there now. Null: nothing. */
  readonly now: string | null;
  /** Signed checkpoints as compact JWS, which show it to anybody who knows the service's keys. */
  readonly checkpoints: readonly string[];
}

/** Something that could not be asked, so that nothing is known about it. */
export interface Doubt {
  /** The path that was asked for. */
  readonly path: string;
  readonly message: string;
}
