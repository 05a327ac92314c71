/** Streams of Shared Signals (protocol §17): subscriptions to events that their receivers poll. */
import type { EventAudience, EventType } from './events.ts';

export type StreamStatus = 'enabled' | 'paused' | 'disabled';

/** What a receiver wants of its stream. */
export interface StreamWishes {
  /** URIs as they were sent. */
  readonly requested: readonly string[];
  /** What there is of them. */
  readonly types: readonly EventType[];
  readonly description: string | null;
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
  readonly status: StreamStatus;
  readonly reason: string | null;
}

/** An event that waits to be taken. */
export interface WaitingEvent {
  readonly eventId: string;
  /** Of the stream itself, beside the types of events. */
  readonly type: EventType | typeof VERIFICATION;
  readonly occurredAtMs: number;
  /** JSON text. */
  readonly data: string;
}

/** What is told to a stream about itself. */
export const VERIFICATION = 'ssf.verification';

export interface StreamRepository {
  /** How many the audience has; whoever asks next waits for this transaction. */
  countForUpdate(audience: EventAudience): Promise<number>;
  /** It has what is told from now on. */
  insert(stream: NewStream): Promise<StreamRecord>;
  /** The oldest first. */
  list(audience: EventAudience): Promise<readonly StreamRecord[]>;
  find(audience: EventAudience, streamId: string): Promise<StreamRecord | null>;
  /** What waits of types that are not wanted any more is dropped. */
  update(streamId: string, wishes: StreamWishes): Promise<void>;
  /** `disabled` drops what waits; what happens until another status is never told. */
  setStatus(streamId: string, status: StreamStatus, reason: string | null): Promise<void>;
  delete(streamId: string): Promise<void>;
  /** Writes a verification event. Null: done; else for how many seconds there is none. */
  verify(streamId: string, state: string | null, everySeconds: number): Promise<number | null>;
  /** These events are taken, those are refused. What does not wait is left as it is. */
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
