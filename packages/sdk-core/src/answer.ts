/**
 * Reads the service's answers (interface §Errors): within a size limit, as strict JSON, or as an error of the service.
 */
import {
  concatBytes,
  decodeUtf8,
  isJsonObject,
  type JsonValue,
  parseInstant,
  parseJsonOfAnyNumbers,
  parseRetryAfter,
  parseStrictJson,
} from '@svc/codec';
import type { Deadline } from './deadline.ts';
import { SvcError } from './errors.ts';

/** An answer 200, 201 or, where expected, 202, with its JSON body. */
export interface Answer {
  status: number;
  requestId: string | null;
  /** `Svc-Idempotent-Replay`: the service says that it repeats an earlier answer. This header is not signed. */
  isIdempotentReplay: boolean;
  /**
   * `Svc-Time`: the time by the service's clock, in milliseconds since the epoch. Null if absent or unreadable.
   */
  serviceTimeMs: number | null;
  body: JsonValue;
}

/** The result of one attempt that brought no answer. */
export interface Failure {
  error: SvcError;
  canRetry: boolean;
  /** The service may have acted on the request although no answer says so. */
  isLost: boolean;
}

/** The limit unless a call sets another, as for a decision, a bundle, or the list of an Agent's revoked Grants. */
export const MAX_RESPONSE_BYTES = 1_048_576;

/** Depth of a DID document on a page of the directory: the page, its list, the entry. */
const DOCUMENT_STANDS_DEEP = 3;

interface Expected {
  readonly mayBePending?: boolean;
  readonly hasDocuments?: boolean;
}

export function readAnswer(
  response: Response,
  text: string | null,
  nowMs: number,
  { mayBePending = false, hasDocuments = false }: Expected = {},
): Answer | Failure {
  const requestId = response.headers.get('svc-request-id');
  const { status } = response;
  // The page of a gateway may be too long or not UTF-8; its status suffices.
  if (text === null && status < 400) return badResponse('not UTF-8, or too long', status, requestId);
  const body = text ?? '';
  const json = hasDocuments ? parseJsonOfAnyNumbers(body, DOCUMENT_STANDS_DEEP) : parseStrictJson(body);
  if (status === 200 || status === 201 || (status === 202 && mayBePending)) {
    if (!json.ok) return badResponse(`not strict JSON: ${json.problem}`, status, requestId);
    const isIdempotentReplay = response.headers.get('svc-idempotent-replay') === 'true';
    const serviceTimeMs = parseInstant(response.headers.get('svc-time') ?? '');
    return { status, requestId, isIdempotentReplay, serviceTimeMs, body: json.value };
  }
  if (status < 400) return badResponse(`an unexpected status ${status}`, status, requestId);
  const { code, message } = readErrorBody(json.ok ? json.value : null);
  const retryAfterSeconds = parseRetryAfter(response.headers.get('retry-after'), nowMs);
  const told = message ?? `the service answered ${status}`;
  const helpUrl = readHelpUrl(response.headers.get('link'));
  const error = new SvcError('refused', told, { code, status, requestId, retryAfterSeconds, helpUrl });
  const isGateway = isOfGateway(status, code);
  const canRetry = isGateway || status === 503 || status === 429;
  return { error, canRetry, isLost: isGateway || code === 'INTERNAL' };
}

/** The codes of the service's own 5xx besides 503. Only the service in memory (`@svc/testing`) answers 501. */
const CODES_OF_5XX: Readonly<Record<number, string>> = { 500: 'INTERNAL', 501: 'NOT_IMPLEMENTED' };

/** Whether a gateway answered, such as with 520 or 524. The gateway may have forwarded the request. */
const isOfGateway = (status: number, code: string | null): boolean =>
  status >= 500 && status !== 503 && code !== CODES_OF_5XX[status];

/** The body, or null if it is not UTF-8 or longer than `maxBytes`. Rejects if the connection breaks. */
export async function readText(
  response: Response,
  deadline: Deadline,
  maxBytes: number,
): Promise<string | null> {
  if (response.body === null) return '';
  const reader = response.body.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    for (;;) {
      const { done, value } = await deadline.within(reader.read());
      if (done) return decodeUtf8(concatBytes(parts));
      parts.push(value);
      length += value.byteLength;
      if (length > maxBytes) return null;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function readErrorBody(body: JsonValue): { code: string | null; message: string | null } {
  if (!isJsonObject(body)) return { code: null, message: null };
  const { error, message } = body;
  return {
    code: typeof error === 'string' ? error.slice(0, 64) : null,
    message: typeof message === 'string' ? message.slice(0, 500) : null,
  };
}

/** The target of the link with `rel="help"` (RFC 8288), if a person can open it in a browser. */
export function readHelpUrl(link: string | null): string | null {
  const [, url = null] =
    /<(https?:\/\/[\x21\x23-\x3b\x3d\x3f-\x7e]{1,512})>\s*;\s*rel="?help"?(?:[;,\s]|$)/i.exec(link ?? '') ??
    [];
  return url;
}

export const badResponse = (what: string, status: number, requestId: string | null): Failure => ({
  error: new SvcError('bad-response', `the service's answer is not of the interface: ${what}`, {
    status,
    requestId,
  }),
  canRetry: false,
  isLost: false,
});
