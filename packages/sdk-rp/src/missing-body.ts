/** Where `action` failed for want of a body: who has to do what, in place of an error with a stack. */

/** What a framework has made of a request's body, and the headers that it came with. */
export interface ParsedBody {
  readonly body: unknown;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

export type MissingBody = 'not-sent' | 'not-parsed' | 'not-json';

/** The body that `action` asked for cannot be read as JSON. */
export class UnreadableBodyError extends SyntaxError {}

/** Null where the error has another cause: that is the framework's to handle. */
export function findMissingBody(error: unknown, parsed: ParsedBody | undefined): MissingBody | null {
  if (error instanceof UnreadableBodyError) return 'not-json';
  if (parsed === undefined || !(error instanceof TypeError)) return null;
  const { body, headers } = parsed;
  if (body === null) return 'not-sent';
  if (body !== undefined) return null;
  const isSent = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
  return isSent && /^application\/json\b/i.test(String(headers['content-type'])) ? 'not-parsed' : 'not-sent';
}

export const MISSING_BODY: Readonly<Record<MissingBody, string>> = {
  'not-sent':
    'the request needs a body of the type that this address reads, such as content-type: application/json',
  'not-parsed':
    'this server has not read the body: it needs a parser, such as express.json(), ahead of requireAuthority',
  'not-json': 'the body must be JSON',
};
