/** Streams of Shared Signals (protocol §17): subscriptions to events that their receivers poll, or are sent. */
import type { DisabledBecause, EventAudience, EventType } from './event-subscriptions.ts';

export type StreamStatus = 'enabled' | 'paused' | 'disabled';

/** What a receiver wants of its stream. */
export interface StreamWishes {
  readonly delivery: StreamDelivery;
  /** URIs as they were sent. */
  readonly requested: readonly string[];
  /** What there is of them. */
  readonly types: readonly EventType[];
  readonly description: string | null;
}

/** How SETs get to the receiver: it asks for them (RFC 8936), or they are sent to it (RFC 8935). */
export type StreamDelivery =
  | { readonly method: 'poll' }
  | {
      readonly method: 'push';
      readonly url: string;
      readonly authorization: SealedAuthorization | null;
    };

/** Readable with a root of that name alone. */
export interface SealedAuthorization {
  readonly root: string;
  /** Base64url. */
  readonly sealed: string;
}

export interface NewStream extends StreamWishes {
  readonly streamId: string;
  readonly audience: EventAudience;
  /** The id of the API key that asked for it. */
  readonly createdBy: string | null;
}

export interface StreamRecord extends StreamWishes {
  readonly streamId: string;
  readonly audience: EventAudience;
  /** The DID of the audience is claimed, and its domain not proven. */
  readonly isOfClaim: boolean;
  readonly status: StreamStatus;
  /** As its owner gave it. */
  readonly reason: string | null;
  /** What paused or disabled it; null while it is enabled. */
  readonly disabledBecause: DisabledBecause | null;
  /** What the latest push that failed met with, while they fail. */
  readonly lastProblem: string | null;
}

/** An event that waits to be taken. */
export interface WaitingEvent {
  readonly eventId: string;
  /** A type of event, or one of the stream itself. */
  readonly type: EventType | typeof VERIFICATION | typeof STREAM_UPDATED;
  readonly occurredAtMs: number;
  /** JSON text. */
  readonly data: string;
}

/** What is told to a stream about itself. */
export const VERIFICATION = 'ssf.verification';
export const STREAM_UPDATED = 'ssf.stream-updated';

export interface StreamRepository {
  /** How many the audience has; whoever asks next waits for this transaction. */
  countForUpdate(audience: EventAudience): Promise<number>;
  /** It has what is told from now on. */
  insert(stream: NewStream): Promise<StreamRecord>;
  /** The oldest first. */
  list(audience: EventAudience): Promise<readonly StreamRecord[]>;
  find(audience: EventAudience, streamId: string): Promise<StreamRecord | null>;
  /** Nobody else changes it before the end of the transaction. */
  lock(streamId: string): Promise<void>;
  /** What waits of types that are not wanted any more is dropped; the rest goes where the stream goes now. */
  update(streamId: string, wishes: StreamWishes): Promise<void>;
  /** `disabled` drops what waits; what happens until another status is never told. */
  setStatus(streamId: string, status: StreamStatus, reason: string | null): Promise<void>;
  delete(streamId: string): Promise<void>;
  /** Writes a verification event. Null: done; else for how many seconds there is none. */
  verify(streamId: string, state: string | null, everySeconds: number): Promise<number | null>;
  /**
   * These events are taken, those are refused. What does not wait is left as it is, and so is all of a stream that is
   * not polled.
   */
  settle(
    streamId: string,
    taken: readonly string[],
    refused: readonly { readonly eventId: string; readonly problem: string }[],
  ): Promise<void>;
  /** The oldest first; none of a stream that is not enabled. */
  listWaiting(streamId: string, limit: number): Promise<readonly WaitingEvent[]>;
  /** Which of these have something that waits. */
  listReady(streamIds: readonly string[]): Promise<readonly string[]>;
}
