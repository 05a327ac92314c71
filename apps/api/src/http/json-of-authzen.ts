/**
 * Bodies of AuthZEN requests (AuthZEN Authorization API 1.0, "Transport"): `application/json`, and free to hold members
 * that we do not know, such as a latitude. So numbers may have any form of RFC 8259. One that strict JSON refuses has no
 * meaning here and reads as null, which no amount is; everything else strict JSON refuses stays refused.
 */
import { ApiError } from './api-error.ts';
import { type ReadJson, readStrict } from './json-body.ts';

/** Throws INVALID_REQUEST. */
export const requireJsonType = (contentType: string | undefined): void => {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new ApiError('INVALID_REQUEST', 'header Content-Type must be application/json');
};

/**
 * A string whole, so that nothing inside it is taken for a number; or a number. A string that does not end reaches to
 * the end of the text: no part of the text is looked at twice.
 */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"?|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/gs;

/** Where the text is JSON, each match is one whole token; where it is not, `null` does not make it so. */
export const readAnyNumbers: ReadJson = (text) =>
  readStrict(text.replaceAll(STRING_OR_NUMBER, (token) => (isStrict(token) ? token : 'null')));

const isStrict = (token: string): boolean =>
  token.startsWith('"') || (/^-?\d+$/.test(token) && Number.isSafeInteger(Number(token)));
