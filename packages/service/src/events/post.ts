/** A POST to an endpoint, of whatever kind, and its answer. */

/** What came of a POST: a status, or why there is none. Never rejects for what the other side does. */
export type PostAnswer =
  | {
      readonly status: number;
      readonly retryAfter: string | null;
      /** The body of a 400, where it was to be read; else empty. */
      readonly error: string;
    }
  | { readonly problem: string };

export interface PostRequest {
  readonly body: string;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: string;
  /** How many bytes of a 400's body are read; 0: none. */
  readonly errorBytes: number;
}

export interface WebhookPort {
  post(url: string, request: PostRequest): Promise<PostAnswer>;
}

export interface Refusal {
  /** For people: what the receiver says. */
  readonly problem: string;
  /** It says so of what was sent, whenever that is sent again. */
  readonly isFinal: boolean;
}

/** What is sent, and how its answer is read. */
export interface Prepared {
  readonly request: PostRequest;
  readonly isTaken: (status: number) => boolean;
  /** For people: which status that is. */
  readonly expected: string;
  /** What the body of a 400 says. Null: nothing of its own. */
  readonly refusalIn: (error: string) => Refusal | null;
}

/** An endpoint that has taken nothing for so long is asked nothing more. */
export const DISABLED_AFTER_DAYS = 5;
