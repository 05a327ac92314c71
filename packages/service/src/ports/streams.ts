/** Storage of Shared Signals streams (protocol §17): subscriptions whose events the receiver polls or is sent. */
import type { DisabledBecause, EventAudience, EventType } from './event-subscriptions.ts';

export type StreamStatus = 'enabled' | 'paused' | 'disabled';

/** The settings of a stream that its receiver chooses. */
export interface StreamWishes {
  readonly delivery: StreamDelivery;
  /** Requested event type URIs, as they were sent. */
  readonly requested: readonly string[];
  /** The supported types among the requested ones. */
  readonly types: readonly EventType[];
  readonly description: string | null;
}

/** How the receiver gets SETs: it polls for them (RFC 8936), or they are pushed to it (RFC 8935). */
export type StreamDelivery =
  | { readonly method: 'poll' }
  | {
      readonly method: 'push';
      readonly url: string;
      readonly authorization: SealedAuthorization | null;
    };

/** An `Authorization` value, encrypted under the root secret named `root`. */
export interface SealedAuthorization {
  readonly root: string;
  /** Base64url. */
  readonly sealed: string;
}

export interface NewStream extends StreamWishes {
  readonly streamId: string;
  readonly audience: EventAudience;
  /** Id of the API key that created the stream. */
  readonly createdBy: string | null;
}

export interface StreamRecord extends StreamWishes {
  readonly streamId: string;
  readonly audience: EventAudience;
  /** The DID of the audience is claimed and its domain is not proven. */
  readonly isOfClaim: boolean;
  readonly status: StreamStatus;
  /** Reason of the status, as the owner gave it. */
  readonly reason: string | null;
  /** What paused or disabled the stream; null while it is enabled. */
  readonly disabledBecause: DisabledBecause | null;
  /** Problem of the latest failed push; null while pushes do not fail. */
  readonly lastProblem: string | null;
}

/** An event that waits until the receiver takes it. */
export interface WaitingEvent {
  readonly eventId: string;
  /** An event type, or a type of events about the stream itself. */
  readonly type: EventType | typeof VERIFICATION | typeof STREAM_UPDATED;
  readonly occurredAtMs: number;
  /** JSON text. */
  readonly data: string;
}

/** Types of events about the stream itself. */
export const VERIFICATION = 'ssf.verification';
export const STREAM_UPDATED = 'ssf.stream-updated';

export interface StreamRepository {
  /** Number of streams of the audience. Until the end of the transaction, other calls for the audience wait. */
  countForUpdate(audience: EventAudience): Promise<number>;
  /** Stores a stream, which receives events from now on. */
  insert(stream: NewStream): Promise<StreamRecord>;
  /** The oldest first. */
  list(audience: EventAudience): Promise<readonly StreamRecord[]>;
  find(audience: EventAudience, streamId: string): Promise<StreamRecord | null>;
  /** Locks the stream against other changes until the end of the transaction. */
  lock(streamId: string): Promise<void>;
  /** Changes settings. Waiting events of types no longer wanted are dropped; the others go to the new delivery. */
  update(streamId: string, wishes: StreamWishes): Promise<void>;
  /** Sets the status. `disabled` drops waiting events, and events until the next status are never sent. */
  setStatus(streamId: string, status: StreamStatus, reason: string | null): Promise<void>;
  delete(streamId: string): Promise<void>;
  /** Writes a verification event. Null: written; else the seconds until the next one is allowed. */
  verify(streamId: string, state: string | null, everySeconds: number): Promise<number | null>;
  /**
   * Records these events as taken and as refused. Events that do not wait are ignored, and so are all events of a
   * stream that is not polled.
   */
  settle(
    streamId: string,
    taken: readonly string[],
    refused: readonly { readonly eventId: string; readonly problem: string }[],
  ): Promise<void>;
  /** Waiting events, the oldest first; none for a stream that is not enabled. */
  listWaiting(streamId: string, limit: number): Promise<readonly WaitingEvent[]>;
  /** Those of these streams that have waiting events. */
  listReady(streamIds: readonly string[]): Promise<readonly string[]>;
}
