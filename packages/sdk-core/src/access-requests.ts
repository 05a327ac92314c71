/** What both SDKs share for reading one request for approval (protocol §16). */
import type { JsonValue } from '@svc/codec';
import { isAccessRequestId } from '@svc/protocol';
import { rule } from './arguments.ts';
import { SvcError } from './errors.ts';
import { readAccessRequest } from './readers.generated.ts';
import type { AccessRequest } from './wire.generated.ts';

export const aRequestId = rule('the task.id of an AccessRequest, arq_ and 26 characters', isAccessRequestId);

/** @throws SvcError `bad-response` where the answer is about another request */
export function readRequestOf(requestId: string, body: JsonValue): AccessRequest {
  const request = readAccessRequest(body, 'the request');
  if (request.task.id === requestId) return request;
  throw new SvcError('bad-response', 'the service answered about another request');
}
