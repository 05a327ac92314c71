/**
 * Bodies of AuthZEN requests (AuthZEN Authorization API 1.0, "Transport"): `application/json`, and free to hold members
 * that we do not know, such as a latitude. So numbers may have any form of RFC 8259. One that strict JSON refuses has no
 * meaning here and reads as null, which no amount is; everything else strict JSON refuses stays refused.
 */
import { parseJsonOfAnyNumbers } from '@svc/protocol';
import { ApiError } from './api-error.ts';
import { type ReadJson, readWith } from './json-body.ts';

/** Throws INVALID_REQUEST. */
export const requireJsonType = (contentType: string | undefined): void => {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') return;
  throw new ApiError('INVALID_REQUEST', 'header Content-Type must be application/json');
};

export const readAnyNumbers: ReadJson = readWith(parseJsonOfAnyNumbers);
