/** Faults of a body that cannot be read. The answer says who must do what; it is not an error with a stack. */

/** The body that a framework parsed from a request, and the request's headers. */
export interface ParsedBody {
  /** `NOT_READ` if `action` did not read it. */
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** A body that was not read is not missing: `action` failed for another reason. */
export const NOT_READ = Symbol('not read');

/** The members that a body-parsing framework sets on its requests. */
interface WithBody {
  body?: unknown;
  headers: ParsedBody['headers'];
}

export interface WatchedBody extends ParsedBody {
  /** Restores the request, except for a body that was assigned meanwhile. */
  end(): void;
}

/** Observes from now on whether `request.body` is read. */
export function watchBody(request: WithBody): WatchedBody {
  const before = Object.getOwnPropertyDescriptor(request, 'body');
  const given = request.body;
  let body = given;
  let isRead = false;
  const isWatched = Reflect.defineProperty(request, 'body', {
    configurable: true,
    enumerable: true,
    get: () => {
      isRead = true;
      return body;
    },
    set: (value) => {
      body = value;
    },
  });
  return {
    get body() {
      return isRead || !isWatched ? body : NOT_READ;
    },
    headers: request.headers,
    end() {
      if (!isWatched) return;
      Reflect.deleteProperty(request, 'body');
      if (before !== undefined) Object.defineProperty(request, 'body', before);
      if (body !== given) request.body = body;
    },
  };
}

/** Why a body cannot be read. The status says whose fault it is. */
export const BODY_FAULTS = {
  'not-sent': {
    status: 400,
    message:
      'the request needs a body of the type that this address reads, such as content-type: application/json',
  },
  malformed: { status: 400, message: 'the body is not well-formed JSON' },
  'too-large': { status: 413, message: 'the body is larger than this address takes' },
  'wrong-type': {
    status: 415,
    message:
      'the body has a content-type, charset or encoding that this address does not read: send one that it does, such as application/json',
  },
  'not-parsed': {
    status: 500,
    message:
      'this server has not read the body: it needs a parser, such as express.json(), ahead of requireAuthority',
  },
} as const;

export type BodyFault = keyof typeof BODY_FAULTS;

/** The body that `action` asked for cannot be read. */
export class UnreadableBodyError extends SyntaxError {
  constructor(
    readonly fault: BodyFault,
    options?: ErrorOptions,
  ) {
    super(BODY_FAULTS[fault].message, options);
  }
}

/**
 * The body fault that made `action` fail, or null. With null the error has another cause, and the framework handles it.
 */
export function findBodyFault(error: unknown, { body, headers }: ParsedBody): BodyFault | null {
  if (error instanceof UnreadableBodyError) return error.fault;
  if (!(error instanceof TypeError) || body === NOT_READ) return null;
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  const isJson = /^application\/json\b/i.test(String(headers['content-type']));
  if (isSent && !isJson && (isNothing(body) || typeof body === 'string')) return 'wrong-type';
  if (body === undefined && isSent) return 'not-parsed';
  return body === null || (!isSent && isNothing(body)) ? 'not-sent' : null;
}

const FAULT_OF_STATUS: Readonly<Record<number, BodyFault>> = {
  400: 'malformed',
  413: 'too-large',
  415: 'wrong-type',
};

/** The body fault that a body parser of Express reported, or null for every other error. */
export function findParserFault(error: unknown): BodyFault | null {
  const { type, status } = (error ?? {}) as { readonly type?: unknown; readonly status?: unknown };
  const isOfParser =
    typeof type === 'string' && /^(?:charset|encoding|entity|parameters|querystring|request)\./.test(type);
  return isOfParser && typeof status === 'number' ? (FAULT_OF_STATUS[status] ?? null) : null;
}

/** Express 4 sets an empty object for a body that is missing or that its parser did not accept. */
const isNothing = (body: unknown): boolean =>
  body === undefined ||
  body === null ||
  (Object.getPrototypeOf(body) === Object.prototype && Object.keys(body as object).length === 0);
