/** What both sides of an approval say of one request (protocol §16). */
import type { JsonValue } from '@svc/codec';
import { isText, rule } from './arguments.ts';
import { SvcError } from './errors.ts';
import { readAccessRequest } from './readers.generated.ts';
import type { AccessRequest } from './wire.generated.ts';

const REQUEST_ID = /^arq_[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const aRequestId = rule(
  'the task.id of an AccessRequest, arq_ and 26 characters',
  (value): value is string => isText(value) && REQUEST_ID.test(value),
);

/** @throws SvcError `bad-response` for another request */
export function readRequestOf(requestId: string, body: JsonValue): AccessRequest {
  const request = readAccessRequest(body, 'the request');
  if (request.task.id === requestId) return request;
  throw new SvcError('bad-response', 'the service answered about another request');
}
