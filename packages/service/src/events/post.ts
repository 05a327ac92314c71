/** A POST to an endpoint, for a webhook or a push, and its answer. */

/** The result of a POST: a status, or why there is none. `post` never rejects for what the other side does. */
export type PostAnswer =
  | {
      readonly status: number;
      readonly retryAfter: string | null;
      /** The body of a 400 if `errorBytes` is above 0; else empty. */
      readonly error: string;
    }
  | { readonly problem: string };

export interface PostRequest {
  readonly body: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  /** Maximum number of bytes read of the body of a 400; 0: none. */
  readonly errorBytes: number;
}

export interface WebhookPort {
  post(url: string, request: PostRequest): Promise<PostAnswer>;
}

export interface Refusal {
  /** For people: what the receiver says. */
  readonly problem: string;
  /** True when the receiver would refuse the same content each time. */
  readonly isFinal: boolean;
}

/** A request to send, and how its answer is read. */
export interface Prepared {
  readonly request: PostRequest;
  readonly isTaken: (status: number) => boolean;
  /** For people: the statuses that `isTaken` accepts. */
  readonly expected: string;
  /** What the body of a 400 says; null when it gives no reason that can be read. */
  readonly refusalIn: (error: string) => Refusal | null;
}

/** An endpoint that has accepted nothing for this many days is disabled. */
export const DISABLED_AFTER_DAYS = 5;
