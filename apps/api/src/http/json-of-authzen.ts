/**
 * Bodies of AuthZEN requests (AuthZEN Authorization API 1.0, "Transport"): `application/json`, which may contain
 * members that are unknown to us, such as a latitude. So numbers may have any form of RFC 8259. A number that strict
 * JSON refuses has no meaning here and is read as null, which is no valid amount. Everything else that strict JSON
 * refuses is still refused.
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
